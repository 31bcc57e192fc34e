#!/usr/bin/env python3
"""Checks the layout of the source tree; prints one line per violation and fails if there is any.

Rules:
1. A file name occurs once in the tree, except for those in SIBLINGS.
2. A tool includes its own headers and those of lib/ only (ALLOWED lists the exceptions).
3. Within a tool, includes go from a folder to the same folder or to a lower one. The tool's module.mk
   lists its folders, lowest first, in a variable called <NAME>_FOLDERS. A variable
   <NAME>_<FOLDER>_FOLDERS lists the folders that FOLDER, a program of its own, may use.
4. No circles: a source file and its header count as one unit, and no unit includes itself through others.
5. The tools and the launcher open files by lib/safe-input.h and lib/safe-output.h; MAY_OPEN lists the exceptions.

With --counts it prints the size of each room instead: files, files under 50 lines, lines.
"""
import collections
import os
import re
import subprocess
import sys

# Every sibling folder has one of these.
SIBLINGS = {'main.c', 'options.c', 'options.h', 'agent.c', 'module.mk', 'README.md', '__init__.py'}
ROOMS = {
    'lib': 'lib',
    'agents': 'agents',
    'hpcrun': 'hpcrun',
    'hpcstruct': 'hpcstruct',
    'hpcprof': 'hpcprof',
    'viewer-tui': 'viewer',
}
# What a room includes besides its own headers and lib/: the public interfaces of runtimes and agents.
ALLOWED = {
    'hpcrun': {'agents/agent.h', 'include/hpctoolkit.h'},
    'agents': {'agents/agent.h', 'runtime-patches/cilk5/description.h',
               'runtime-patches/minicilk/minicilk-introspect.h'},
}
# Where files are opened otherwise.
MAY_OPEN = {
    'lib/safe-input.c', 'lib/safe-output.c',
    'hpcprof/base/output-file.c',  # the files of the database, below the descriptor of its folder
    'hpcprof/database/database-dir.c',  # that folder
    'hpcprof/database/cct-db.c',  # maps a file of the database that it has written
    'hpcprof/sources/source-permission.c',  # source files, without any link
    'hpcrun/launch/harmless-filters.c',  # the system calls of libhpcrun.so, tried in the measurement directory
    'hpcrun/launch/measurement-directory.c',  # an empty file in the measurement directory, which must be new
    'hpcrun/launch/set-runner.c',  # /dev/null
}
OPENS = re.compile(r'(?<![\w>.])(open|openat|creat|fopen|freopen|gzopen|mmap|mkostemp|mkstemp|json_load_file)\(')


def source_files():
    """Paths of the files in git; without git of all files outside of build folders."""
    listed = subprocess.run(['git', 'ls-files', '-z'], capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        names = listed.stdout.split('\0')
    else:
        names = [os.path.relpath(os.path.join(folder, name)) for folder, _, found in os.walk('.')
                 for name in found if not os.path.relpath(folder).startswith('build')]
    return [name for name in sorted(names) if name and os.path.isfile(name)]


def repeated_names(files):
    paths = collections.defaultdict(list)
    for path in files:
        paths[os.path.basename(path)].append(path)
    for name, where in sorted(paths.items()):
        if len(where) > 1 and name not in SIBLINGS and os.path.splitext(name)[1] in ('.c', '.h', '.py', '.md'):
            yield f'{name}: occurs {len(where)} times: {", ".join(where)}'


def includes(path):
    with open(path, encoding='utf-8', errors='replace') as text:
        for line in text:
            found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if found:
                yield found.group(1)


def folder_lists(room, name):
    """The <NAME>_FOLDERS variables of a room's module.mk: {'': [...], 'LAUNCH': [...]}."""
    makefile = os.path.join(room, 'module.mk')
    text = open(makefile, encoding='utf-8').read().replace('\\\n', ' ')
    lists = {}
    for variable, value in re.findall(rf'^{name.upper()}_((?:\w+_)?)FOLDERS\s*:?=\s*(.*)$', text, re.M):
        lists[variable.rstrip('_')] = value.split()
    return lists


def folder_in(room, path):
    return os.path.dirname(os.path.relpath(path, room))


def upward_arrows(room, sources, lists):
    """Includes that go to a folder which is not listed before the file's own."""
    order = lists.get('')
    if not order:
        return
    for path in sources:
        own = folder_in(room, path)
        if own == '':
            continue  # main.c and its like may use every folder
        allowed = lists.get(own.upper().replace('/', '_').replace('-', '_'))
        if allowed is None:
            if own not in order:
                yield f'{path}: folder {own} is not in the FOLDERS of {room}/module.mk'
                continue
            allowed = order[:order.index(own)]
        for target in includes(path):
            if target.startswith(room + '/') and target not in ALLOWED.get(room, ()):
                other = folder_in(room, target)
                if other != own and other not in allowed:
                    yield f'{path}: includes {target}, of a folder that is not below {own}'


def foreign_includes(room, sources):
    for path in sources:
        for target in includes(path):
            inside = target.startswith((room + '/', 'lib/'))
            if '/' in target and not inside and target not in ALLOWED.get(room, ()):
                yield f'{path}: includes {target}, of another tool'


def circles(sources):
    """Circles among units, each reported once as the list of its members."""
    unit = lambda path: os.path.splitext(path)[0]
    graph = collections.defaultdict(set)
    known = {unit(path) for path in sources}
    for path in sources:
        for target in includes(path):
            if unit(target) in known and unit(target) != unit(path):
                graph[unit(path)].add(unit(target))
    state, stack = {}, []

    def visit(node):
        state[node] = 'open'
        stack.append(node)
        for target in sorted(graph[node]):
            if state.get(target) == 'open':
                yield 'circle of includes: ' + ' -> '.join(stack[stack.index(target):] + [target])
            elif target not in state:
                yield from visit(target)
        stack.pop()
        state[node] = 'done'

    for node in sorted(known):
        if node not in state:
            yield from visit(node)


def other_opens(sources):
    for path in sources:
        if path in MAY_OPEN or path.startswith('hpcrun/') and not path.startswith('hpcrun/launch/'):
            continue
        with open(path, encoding='utf-8', errors='replace') as text:
            for number, line in enumerate(text, 1):
                for found in OPENS.finditer(line):
                    yield f'{path}:{number}: {found.group(1)}: use lib/safe-input.h or lib/safe-output.h'


def violations(files):
    yield from repeated_names(files)
    all_sources = []
    for room, name in ROOMS.items():
        sources = [f for f in files if f.startswith(room + '/') and f.endswith(('.c', '.h'))]
        all_sources += sources
        yield from foreign_includes(room, sources)
        yield from upward_arrows(room, sources, folder_lists(room, name))
        if room != 'agents':
            yield from other_opens(sources)
    yield from circles(all_sources)


def print_counts(files):
    print(f'{"room":12} {"files":>6} {"<50 lines":>10} {"lines":>7}')
    for room in [*ROOMS, 'tests', 'runtime-patches']:
        sizes = [len(open(f, 'rb').read().splitlines()) for f in files
                 if f.startswith(room + '/') and f.endswith(('.c', '.h', '.py'))]
        print(f'{room:12} {len(sizes):6} {sum(s < 50 for s in sizes):10} {sum(sizes):7}')


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    files = source_files()
    if sys.argv[1:] == ['--counts']:
        return print_counts(files)
    sys.setrecursionlimit(10000)
    found = list(violations(files))
    print('\n'.join(found), end='\n' if found else '')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main())
