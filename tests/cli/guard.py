"""The beginning of a program that runs gpupool and notices sockets and other programs."""

GUARD = """
import sys
events = []
def guard(event, arguments):
    if event.startswith(("socket.", "urllib.", "http.", "ftplib.", "subprocess.", "os.system", "os.exec", "os.fork")):
        events.append(f"{event} {arguments}")
        sys.stderr.write(f"FORBIDDEN {event} {arguments}\\n")
sys.addaudithook(guard)
from gpupool.cli.app import main
"""
