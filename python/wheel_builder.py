"""The build backend of pyproject.toml (PEP 517), which makes a wheel of the files that Meson installs.

meson-python is not used for two reasons: its version in Debian 12 (0.12) packs everything that Meson installs,
including libcoil's headers, and Debian 12's Meson does not support CPython 3.12.
"""

import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / 'pyproject.toml').read_text())['project']
OPTIONS = ('--buildtype=release', '-Dtests=false', '-Dhttp=disabled', '-Dposix=false',
           '-Dcrawler=disabled', '-Dpython=' + sys.executable)
TAG = 'cp{0}{1}-cp{0}{1}-{2}'.format(*sys.version_info[:2],
                                     sysconfig.get_platform().replace('-', '_').replace('.', '_'))
NAME = '{name}-{version}'.format(**PROJECT)
WHEEL = f'Wheel-Version: 1.0\nGenerator: coil\nRoot-Is-Purelib: false\nTag: {TAG}\n'


def metadata():
    lines = ['Metadata-Version: 2.1', 'Name: ' + PROJECT['name'], 'Version: ' + PROJECT['version'],
             'Summary: ' + PROJECT['description'], 'License: ' + PROJECT['license']['text'],
             'Requires-Python: ' + PROJECT['requires-python'],
             'Description-Content-Type: text/markdown', '',
             (ROOT / PROJECT['readme']).read_text()]
    return '\n'.join(lines)


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
    return f'{name},sha256={digest},{len(data)}'


def write_wheel(path, package):
    """Write a wheel with the files of the package's folder and the metadata that PEP 427 requires."""
    files = {'coil/' + str(file.relative_to(package)): file.read_bytes()
             for file in sorted(package.rglob('*')) if file.is_file()}
    files[f'{NAME}.dist-info/METADATA'] = metadata().encode()
    files[f'{NAME}.dist-info/WHEEL'] = WHEEL.encode()
    files[f'{NAME}.dist-info/LICENSE'] = (ROOT / 'LICENSE').read_bytes()
    record = f'{NAME}.dist-info/RECORD'
    lines = [record_line(name, data) for name, data in files.items()] + [record + ',,', '']
    files[record] = '\n'.join(lines).encode()
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)


def run(*command):
    """Run a system tool without PYTHONPATH, with which pip hides the tool's own Python packages."""
    env = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
    subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr, env=env)


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory) / f'{NAME}.dist-info'
    folder.mkdir()
    (folder / 'METADATA').write_text(metadata())
    (folder / 'WHEEL').write_text(WHEEL)
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f'{NAME}-{TAG}.whl'
    with tempfile.TemporaryDirectory() as folder:
        build, installed = pathlib.Path(folder) / 'build', pathlib.Path(folder) / 'installed'
        run('meson', 'setup', build, ROOT, *OPTIONS)
        run('ninja', '-C', build, 'python')
        run('meson', 'install', '-C', build, '--no-rebuild', '--tags', 'python-runtime',
            '--destdir', installed)
        extension = next(installed.rglob('_coil*.so'))
        write_wheel(os.path.join(wheel_directory, name), extension.parent)
    return name


def build_sdist(sdist_directory, config_settings=None):
    name = NAME + '.tar.gz'
    run('git', '-C', ROOT, 'archive', f'--prefix={NAME}/', '-o',
        pathlib.Path(sdist_directory).resolve() / name, 'HEAD')
    return name
