"""``footnote scope``: what one place may see, and why."""

from bot.scopes.watching import LiveAudiences, config_path
from bot.settings import Settings
from bot.terminal import output, print_json
from core.domain.places import Place


def run_scope(settings: Settings, place: Place, *, as_json: bool) -> int:
    """Print one sentence; needs no database.

    Raises:
        ConfigurationError: the file is missing or wrong.
    """
    live = LiveAudiences(config_path(settings.footnote_config))
    if as_json:
        audience = live.audience_for(place)
        print_json(
            {
                "explanation": live.explain(place),
                "may_ask": live.may_ask(place),
                "is_admin": live.rules.is_admin(place),
                "sees": [[scope.name for scope in group] for group in audience.groups],
                "sees_nothing": audience.is_empty,
                "file": str(live.path) if live.path is not None else None,
            }
        )
    else:
        output.print(live.explain(place), markup=False, soft_wrap=True)
    return 0
