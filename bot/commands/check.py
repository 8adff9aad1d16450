"""``footnote check``: the doctor's report."""

from dataclasses import asdict

from bot.doctor import examine
from bot.findings import State, show_finding
from bot.settings import Settings, read_variables
from bot.terminal import messages, print_json


async def run_check(settings: Settings, *, as_json: bool) -> int:
    """0 if nothing failed; warnings are no failure."""
    findings = []
    with messages.status("Examining ...") as status:
        async for finding in examine(settings, read_variables()):
            findings.append(finding)
            if not as_json:
                status.stop()
                show_finding(finding)
                status.start()
    failed = any(finding.state is State.FAIL for finding in findings)
    if as_json:
        print_json({"ok": not failed, "findings": [asdict(finding) for finding in findings]})
    return 1 if failed else 0
