# SPDX-License-Identifier: MIT
"""server.py serve PORT: answers each line. server.py load PORT COUNT: sends so many, and says so.
server.py ports COUNT: prints the first of so many ports in a row that nobody uses."""
import random
import socket
import sys

HOST = "127.0.0.1"


def serve(port):
    listening = socket.create_server((HOST, port))
    while True:
        connection = listening.accept()[0]
        with connection, connection.makefile("rw") as lines:
            for line in lines:
                lines.write(line)
                lines.flush()


def load(port, count):
    with socket.create_connection((HOST, port)) as connection, connection.makefile("rw") as lines:
        for _ in range(count):
            lines.write("again\n")
            lines.flush()
            lines.readline()
    print("requests: %d" % count)


def is_free(port):
    try:
        socket.create_server((HOST, port)).close()
        return True
    except OSError:
        return False


def ports(count):
    while True:
        first = random.randrange(10000, 30000 - count)  # below those that systems give away
        if all(is_free(first + i) for i in range(count)):
            return print(first)


globals()[sys.argv[1]](*map(int, sys.argv[2:]))
