"""Pictures on the pages of a scanned PDF: ``python -m adapters.extractors.scans LIMITS BUT``, PDF on stdin.

Prints one JSON document: for each page the pictures in base 64, none for pages that need not be looked at.
"""

import json
import logging
import sys
from base64 import b64encode
from io import BytesIO

from adapters.extractors.limited import limit_this_process
from adapters.extractors.limits import FileLimits

SMALLEST = 100
"""Pixels in both directions; what is smaller is a logo or a line."""

MOST_ON_A_PAGE = 5


def main() -> None:
    """Read stdin, write stdout; whatever goes wrong in a file is said in the answer."""
    limits, but = FileLimits(**json.loads(sys.argv[1])), frozenset(json.loads(sys.argv[2]))
    limit_this_process(limits.memory, limits.seconds)
    logging.disable(logging.CRITICAL)
    data = sys.stdin.buffer.read(limits.size + 1)
    try:
        answer: dict[str, object] = {"pages": pictures(data, limits, but)}
    except MemoryError:
        answer = {"error": f"takes more than {limits.memory} bytes to be read"}
    except ImportError as error:
        answer = {"missing": error.name or ""}
    except Exception as error:  # noqa: BLE001 - a broken file breaks its reader in any way it likes
        answer = {"error": f"is broken ({type(error).__name__})"}
    sys.stdout.write(json.dumps(answer))


def pictures(data: bytes, limits: FileLimits, but: frozenset[int]) -> list[list[str]]:
    """By page, numbered from 1, each as PNG in base 64; ``but`` are pages to be passed over."""
    from pypdf import PdfReader

    found: list[list[str]] = []
    for number, page in enumerate(PdfReader(BytesIO(data), strict=False).pages[: limits.pages], start=1):
        held: list[str] = []
        if number not in but:
            for one in page.images:
                image = one.image
                if image is None or min(image.size) < SMALLEST:
                    continue
                png = BytesIO()
                (image if image.mode in {"1", "L", "RGB"} else image.convert("RGB")).save(png, "PNG")
                held.append(b64encode(png.getvalue()).decode())
                if len(held) == MOST_ON_A_PAGE:
                    break
        found.append(held)
    return found


if __name__ == "__main__":
    main()
