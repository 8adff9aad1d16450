"""Values as they lie in Redis: compressed where that pays, sealed so that damage is noticed.

A frame is a mark, a flag byte, a seal over key, flag and body, and the body. The seal holds the key, so that
a value that came back for another key, by whatever fault of a connection, is a miss and never an answer
for the wrong eyes.
"""

import zlib
from hashlib import blake2b

_MARK = b"F1"
_PLAIN, _COMPRESSED = b"p", b"z"
_SEAL_LENGTH = 8
_HEAD_LENGTH = len(_MARK) + 1 + _SEAL_LENGTH

COMPRESS_ABOVE = 1024
"""Bytes; below it compression costs more time than it saves room."""
LARGEST_VALUE = 8 * 1024 * 1024
"""Bytes, unpacked: no frame grows beyond it, whatever it claims."""


def framed(key: str, value: bytes) -> bytes:
    """The frame for a value under a key."""
    flag, body = _PLAIN, value
    if len(value) > COMPRESS_ABOVE:
        compressed = zlib.compress(value, level=3)
        if len(compressed) < len(value):
            flag, body = _COMPRESSED, compressed
    return _MARK + flag + _seal(key, flag, body) + body


def unframed(key: str, frame: bytes) -> bytes | None:
    """The value in a frame; null if it is damaged, foreign, or was stored under another key."""
    flag, seal, body = frame[2:3], frame[3:_HEAD_LENGTH], frame[_HEAD_LENGTH:]
    if not frame.startswith(_MARK) or seal != _seal(key, flag, body):
        return None
    if flag == _PLAIN:
        return body
    return _decompressed(body) if flag == _COMPRESSED else None


def _seal(key: str, flag: bytes, body: bytes) -> bytes:
    digest = blake2b(digest_size=_SEAL_LENGTH)
    for part in (key.encode("utf-8", "surrogatepass"), flag, body):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()


def _decompressed(body: bytes) -> bytes | None:
    unpacker = zlib.decompressobj()
    try:
        value = unpacker.decompress(body, LARGEST_VALUE)
    except zlib.error:
        return None
    return value if unpacker.eof else None
