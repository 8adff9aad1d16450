"""The process that reads one file: ``python -m adapters.extractors.worker KIND LIMITS``, the file on stdin.

It limits itself before it looks at the file, and prints one JSON document: parts, or the reason for none.
"""

import json
import logging
import sys
from dataclasses import asdict

from adapters.extractors.kinds import FileKind, check_first_bytes
from adapters.extractors.limited import limit_this_process
from adapters.extractors.limits import FileLimits, Room
from adapters.markup.tree_json import rows_of
from core.domain.attachments import ExtractedPart
from core.errors import UnreadableError

MOST_WRITTEN = 50
"""Signs of the answer for each character of text: six for one that is not ASCII, the rest for its block."""


def main() -> None:
    """Read stdin, write stdout; whatever goes wrong in a file is said in the answer."""
    kind, limits = FileKind(sys.argv[1]), FileLimits(**json.loads(sys.argv[2]))
    limit_this_process(limits.memory, limits.seconds)
    # What readers have to say about a file may quote it.
    logging.disable(logging.CRITICAL)
    data = sys.stdin.buffer.read(limits.size + 1)
    room = Room(limits)
    try:
        parts = read(data, kind, room)
        answer = {
            "parts": [[part.label, list(rows_of(part.blocks))] for part in parts],
            "left_out": "; ".join(room.notes),
        }
    except UnreadableError as error:
        answer = {"error": str(error)}
    except MemoryError:
        answer = {"error": f"takes more than {limits.memory} bytes to be read"}
    except ImportError as error:
        answer = {"missing": error.name or ""}
    except Exception as error:  # noqa: BLE001 - a broken file breaks its reader in any way it likes
        answer = {"error": f"is broken ({type(error).__name__})"}
    written = json.dumps(answer)
    if len(written) > MOST_WRITTEN * limits.characters:
        written = json.dumps({"error": f"holds far more than {limits.characters} characters"})
    sys.stdout.write(written)


def read(data: bytes, kind: FileKind, room: Room) -> list[ExtractedPart]:
    """The parts of a file.

    Raises:
        UnreadableError: it cannot be read, for the reason given; readers raise whatever else they like.
    """
    from adapters.extractors import office, pdf, text, web

    if len(data) > room.limits.size:
        raise UnreadableError(f"is larger than {room.limits.size} bytes")
    check_first_bytes(data, kind)
    match kind:
        case FileKind.PDF:
            return pdf.read_pdf(data, room)
        case FileKind.HTML:
            return web.read_html(text.decode(data), room)
        case FileKind.MARKDOWN:
            return text.read_markdown(text.decode(data), room)
        case FileKind.TEXT:
            return text.read_text(text.decode(data), room)
        case FileKind.CSV:
            return text.read_csv(text.decode(data), room)
        case FileKind.DOCX | FileKind.PPTX | FileKind.XLSX:
            office.check_archive(data, room.limits)
            readers = {
                FileKind.DOCX: office.read_docx,
                FileKind.PPTX: office.read_pptx,
                FileKind.XLSX: office.read_xlsx,
            }
            return readers[kind](data, room)


def arguments(kind: FileKind, limits: FileLimits) -> tuple[str, ...]:
    """The command line that `main` reads, behind the interpreter."""
    return ("-P", "-m", "adapters.extractors.worker", kind.value, json.dumps(asdict(limits)))


if __name__ == "__main__":
    main()
