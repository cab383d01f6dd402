"""Stands as `librarian` or `python` before a block's commands: asks command_server.py.

python command_client.py PROGRAM ARGUMENTS
"""

import json
import os
import socket
import sys

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(os.environ["DOCUMENTATION_COMMANDS"])
    asked = {
        "program": sys.argv[1],
        "arguments": sys.argv[2:],
        "folder": os.environ["PWD"],
        "environment": dict(os.environ),
    }
    line = json.dumps(asked).encode() + b"\n"
    sent = socket.send_fds(connection, [line], [0, 1, 2])
    connection.sendall(line[sent:])
    answer = connection.recv(16)
sys.exit(int(answer or 1))
