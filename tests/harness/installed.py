"""Install coil in a temporary folder, and let pkg-config find it there. For tests that compile programs outside the
source tree."""

import os
import pathlib
import shlex
import subprocess


def below(build, folder):
    """Install the build in the folder. Returns the path of its coil.pc."""
    subprocess.run(['meson', 'install', '-C', build, '--no-rebuild', '--destdir', folder],
                   check=True, stdout=subprocess.DEVNULL)
    found = list(pathlib.Path(folder).rglob('coil.pc'))
    if len(found) != 1:
        raise RuntimeError(f'{len(found)} files coil.pc were installed')
    return found[0]


def pkg_config(pc, folder, *arguments):
    """Return pkg-config's output as a list of words. Paths in the output are below the folder.

    PKG_CONFIG_SYSROOT_DIR would have the same effect, but does not support folders with a space in their names.
    """
    prefix = next(line.partition('=')[2] for line in pc.read_text().splitlines()
                  if line.startswith('prefix='))
    moved = (str(folder) + prefix.replace('\\ ', ' ')).replace(' ', '\\ ')
    printed = subprocess.run(['pkg-config', f'--define-variable=prefix={moved}', *arguments],
                             check=True, text=True, stdout=subprocess.PIPE,
                             env=dict(os.environ, PKG_CONFIG_PATH=str(pc.parent))).stdout
    return shlex.split(printed)
