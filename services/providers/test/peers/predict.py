"""What cog serves in the tests: a picture that is computed from the prompt, or a failure."""

import struct
import time
import zlib
from typing import List

from cog import BasePredictor, Input, Path

SIDE = 16


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def picture(seed: int) -> bytes:
    row = b"\0" + bytes((seed * 37 + x) % 256 for x in range(3 * SIDE))
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(row * SIDE)) + chunk(b"IEND", b"")


class Predictor(BasePredictor):
    def predict(self, prompt: str, seconds: float = Input(default=0.0), count: int = Input(default=1)) -> List[Path]:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.05)
        if "fail" in prompt:
            raise ValueError("the loom broke")
        return [self.written(len(prompt) + index) for index in range(count)]

    def written(self, seed: int) -> Path:
        path = Path(f"picture-{seed}.png")
        path.write_bytes(picture(seed))
        return path
