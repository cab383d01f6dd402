"""Runs a command of a test in command_server.py, as if it were a process of its own.

python command_client.py SOCKET PROGRAM ARGUMENTS
"""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(sys.argv[1])
    asked = {
        "program": sys.argv[2],
        "arguments": sys.argv[3:],
        "folder": os.environ["PWD"],
        "environment": dict(os.environ),
    }
    line = json.dumps(asked).encode() + b"\n"
    sent = socket.send_fds(connection, [line], [0, 1, 2])
    connection.sendall(line[sent:])
    with connection.makefile("rb") as answer:
        answer.readline()  # its process id
        code = answer.read()
sys.exit(int(code or 1))
