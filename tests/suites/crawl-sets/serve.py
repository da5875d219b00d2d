#!/usr/bin/env python3
"""Serve a folder as examples/httpd does, except for the answers in the folder's answers.json, which served.mjs
explains.

    serve.py FOLDER
"""

import http.server
import json
import pathlib
import sys
import urllib.parse

ROOT = pathlib.Path(sys.argv[1]).resolve()
ANSWERS = json.loads((ROOT / 'answers.json').read_text('utf-8'))
TYPES = {'.html': 'text/html; charset=utf-8', '.htm': 'text/html; charset=utf-8',
         '.xml': 'application/xml', '.css': 'text/css'}


def answer_of_file(path, content_type=None):
    return {'status': 200, 'type': content_type or TYPES.get(path.suffix, 'image/png'),
            'body': path.read_bytes()}


def answer_of_path(path):
    names = [name for name in urllib.parse.unquote(path).split('/') if name]
    file = ROOT.joinpath(*names)
    if '..' in names or not file.exists() or (file.is_file() and path.endswith('/')):
        return {'status': 404}
    if file.is_file():
        return answer_of_file(file)
    if not path.endswith('/'):
        return {'status': 301, 'location': path + '/'}
    index = file / 'index.html'
    return answer_of_file(index) if index.exists() else {'status': 404}


def answer_to(path):
    special = ANSWERS.get(path)
    if special is None:
        return answer_of_path(path)
    if 'file' not in special:
        return special
    return {**answer_of_file(ROOT / special['file'], special.get('type')), **special}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        answer = answer_to(self.path.partition('?')[0])
        body = answer.get('body', b'')
        self.send_response(answer['status'])
        self.send_header('Content-Length', str(len(body)))
        if 'type' in answer:
            self.send_header('Content-Type', answer['type'])
        if 'location' in answer:
            self.send_header('Location', answer['location'])
        for name, value in answer.get('headers', []):
            self.send_header(name, value)
        self.end_headers()
        if self.command == 'GET':
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


if __name__ == '__main__':
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    print('listening on %s:%d' % server.server_address, flush=True)
    server.serve_forever()
