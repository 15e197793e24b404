"""A service that gives the answers of a script in order, the last one for ever: faults that no real one gives on demand."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Script = list[Any]


class Scripted:
    def __init__(self, script: Script) -> None:
        self.received: list[dict[str, Any]] = []
        lock = threading.Lock()
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                with lock:
                    headers = {name.lower(): value for name, value in self.headers.items()}
                    received.append({"method": self.command, "path": self.path, "headers": headers, "body": body})
                    answer = script[min(len(received), len(script)) - 1]
                if answer == "drop":
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True
                    return
                text = answer.get("text", json.dumps(answer["json"]) if "json" in answer else "").encode()
                self.send_response(answer["status"])
                for name, value in {"content-type": "application/json; charset=utf-8", **answer.get("headers", {})}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(text) + (1 if answer.get("cut") else 0)))
                self.end_headers()
                self.wfile.write(text)
                if answer.get("cut"):
                    self.wfile.flush()
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class Services:
    """Starts scripted services, and stops them after the test."""

    def __init__(self) -> None:
        self._started: list[Scripted] = []

    def start(self, *script: Any) -> Scripted:
        service = Scripted(list(script))
        self._started.append(service)
        return service

    def stop(self) -> None:
        for service in self._started:
            service.stop()


@pytest.fixture
def services() -> Iterator[Services]:
    started = Services()
    yield started
    started.stop()
