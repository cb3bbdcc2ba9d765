"""python server.py FILE.gguf [SLOTS] [CONTEXT]: llama.cpp's own server on one core: four slots, continuous batching, a prefix cache. It
keeps no idle prompts: with them it grows by a quarter of a megabyte a request, and gets slower. It prints its address."""

import socket
import sys
import time

import xllamacpp

with socket.socket() as free:
    free.bind(('127.0.0.1', 0))
    port = free.getsockname()[1]
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_parallel = int(sys.argv[2]) if len(sys.argv) > 2 else 4
params.n_ctx = int(sys.argv[3]) if len(sys.argv) > 3 else 8192
params.cont_batching = True
params.cache_ram_mib = 0
params.port = port
params.endpoint_metrics = params.endpoint_slots = True
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
while True:
    time.sleep(60)
