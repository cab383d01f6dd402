"""A llama-server in a process of its own, until it is killed: python llama_process.py MODEL PORT OPTIONS

OPTIONS is JSON: attributes of xllamacpp's CommonParams.
"""

import json
import sys
import threading

import xllamacpp


def main() -> None:
    model, port, options = sys.argv[1:]
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.hostnames = ["127.0.0.1"]
    params.port = int(port)
    params.n_ctx, params.n_parallel = 8192, 4
    # Cached and fresh prompts then give the same score to five digits.
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.cache_ram_mib = 0
    given = json.loads(options)
    if given.pop("rank", False):
        params.embedding, params.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    for name, value in given.items():
        setattr(params, name, value)
    server = xllamacpp.Server(params)
    threading.Event().wait()
    del server


if __name__ == "__main__":
    main()
