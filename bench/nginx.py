"""nginx.py - runs nginx as the server for the rows that measure HTTP clients.

nginx has one worker, on processor 1, and counts the requests, so a client that skips requests is detected.
"""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.request

import driver

CONFIGURATION = """\
{user}
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    types {{ text/html html; }}
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000;
    open_file_cache max=20000 inactive=1h;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        {content}
        location = /requests {{ stub_status; }}
    }}
}}
"""


def is_installed():
    """Return true if nginx can be run. Only root has nginx's folder in PATH, so it is added if necessary."""
    if shutil.which("nginx") is None:
        os.environ["PATH"] += ":/usr/sbin"
    return shutil.which("nginx") is not None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def count_requests(url):
    """Return the number of requests that nginx has served, including this one."""
    with urllib.request.urlopen(url + "requests", timeout=5) as response:
        return int(re.search(r"\n\s*\d+\s+\d+\s+(\d+)", response.read().decode())[1])


def wait_until_it_serves(process, url):
    for _ in range(100):
        with contextlib.suppress(OSError):
            count_requests(url)
            return
        if process.poll() is not None:
            break
        time.sleep(0.05)
    raise RuntimeError("nginx does not serve")


@contextlib.contextmanager
def served(folder, content):
    """Run a server with the given directives, and yield its URL. nginx keeps its own files in the folder."""
    port = free_port()
    user = "user root;" if os.getuid() == 0 else ""  # other users cannot read the folder
    (folder / "nginx.conf").write_text(
        CONFIGURATION.format(folder=folder, port=port, user=user, content=content))
    process = subprocess.Popen(
        ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"),
         "-e", str(folder / "error.log")], preexec_fn=lambda: driver.pin(driver.LOAD_CPU))
    try:
        url = f"http://127.0.0.1:{port}/"
        wait_until_it_serves(process, url)
        yield url
    finally:
        process.terminate()
        process.wait()
