# SPDX-License-Identifier: MIT
"""Waits for a connection to a socket and prints what comes.

usage: listen.py SOCKET [closes]    closes: reads nothing, and is gone after the first connection
"""
import socket
import sys

server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
connection = server.accept()[0]
if len(sys.argv) > 2:
    connection.close()
    sys.exit()
while True:
    data = connection.recv(1 << 16)
    if not data:
        break
    sys.stdout.buffer.write(data)
