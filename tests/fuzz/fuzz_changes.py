"""Functions that damage a file: each takes its content and a generator, and returns new content."""

import gzip
import random
import re

NUMBERS = ["0", "-1", "1", "2147483647", "2147483648", "9223372036854775808", "1e400", "nan"]
NUMBERS += ["-0", "0x10", "1_000", "0.5", "1e-9", "00", "٣", "inf", "1" * 400]
NUMBERS += ["30000", "10000000", "2000000000", "99999999999999999999"]
WORDS = ["EOF", "NAN", ":", "=", "[[", "]]", '"', "'''", "{", "null", "true", "\0", "\r\n", "\t"]
WORDS += ["DIMENSION", "EDGE_WEIGHT_SECTION", "TOUR_SECTION", "problem X.DAT", "++++", "[" * 3000]
WORDS += [".".join("a" * 20_000)]


def changed(content: bytes, draw: random.Random) -> bytes:
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        content = draw.choice(CHANGES)(content, draw)
    return content


def _flipped(content: bytes, draw: random.Random) -> bytes:
    if not content:
        return b"\x80"
    place = draw.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << draw.randrange(8)]) + content[place + 1 :]


def _cut(content: bytes, draw: random.Random) -> bytes:
    return content[: draw.randrange(len(content) + 1)]


def _without(content: bytes, draw: random.Random) -> bytes:
    first, last = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    return content[:first] + content[min(last, first + 40) :]


def _twice(content: bytes, draw: random.Random) -> bytes:
    first, last = sorted(draw.randrange(len(content) + 1) for _ in range(2))
    return content[:last] + content[first:]


def _noise(content: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(content) + 1)
    return content[:place] + draw.randbytes(draw.randrange(1, 9)) + content[place:]


def _word(content: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(content) + 1)
    return content[:place] + draw.choice(WORDS).encode() + content[place:]


def _number(content: bytes, draw: random.Random) -> bytes:
    words = [each.span() for each in re.finditer(rb"\S+", content)] or [(0, 0)]
    first, last = draw.choice(words)
    return content[:first] + draw.choice(NUMBERS).encode() + content[last:]


def _lines(content: bytes, draw: random.Random) -> bytes:
    lines = content.split(b"\n")
    draw.shuffle(lines)
    return b"\n".join(lines)


def _zipped(content: bytes, draw: random.Random) -> bytes:
    return gzip.compress(content, 1, mtime=0)


def _large(content: bytes, draw: random.Random) -> bytes:
    """Overwrite some bytes with those of an extreme number."""
    width = draw.choice((1, 2, 4, 8))
    number = draw.choice((0, 1, (1 << 8 * width) - 1, (1 << 8 * width - 1) - 1))
    place = draw.randrange(len(content) + 1)
    return content[:place] + number.to_bytes(width, "little") + content[place + width :]


CHANGES = (_flipped, _cut, _without, _twice, _noise, _word, _number, _lines, _zipped, _large)
