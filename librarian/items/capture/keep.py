"""The script that hooks start: it runs `turn`, whose bytecode Python caches."""

import sys

if __name__ == "__main__":
    sys.path.insert(0, __file__.rpartition("/")[0])
    sys.exit(__import__("turn").main(sys.argv[1:]))
