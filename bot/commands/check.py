"""``footnote check``: the doctor's report."""

from dataclasses import asdict

from bot.doctor import examine
from bot.findings import Finding, State
from bot.settings import Settings, read_variables
from bot.terminal import messages, output, print_json

_STYLES = {State.OK: "green", State.WARN: "yellow", State.FAIL: "red"}


async def run_check(settings: Settings, *, as_json: bool) -> int:
    """0 if nothing failed; warnings are no failure."""
    findings = []
    with messages.status("Examining ...") as status:
        async for finding in examine(settings, read_variables()):
            findings.append(finding)
            if not as_json:
                status.stop()
                _print(finding)
                status.start()
    failed = any(finding.state is State.FAIL for finding in findings)
    if as_json:
        print_json({"ok": not failed, "findings": [asdict(finding) for finding in findings]})
    return 1 if failed else 0


def _print(finding: Finding) -> None:
    output.print(f"{finding.state.value:<5}", end="", style=_STYLES[finding.state])
    output.print(f"{finding.subject}: {finding.detail}", markup=False, soft_wrap=True)
    if finding.remedy:
        output.print(f"     -> {finding.remedy}", markup=False, soft_wrap=True)
