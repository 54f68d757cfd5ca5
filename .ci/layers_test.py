#!/usr/bin/env python3
"""Checks that the packages of this repository depend on each other as
docs/layers.txt allows.

  layers_test.py ROOT      check the workspace at ROOT
  layers_test.py --self    check this checker on small made-up workspaces

BUILD files are Python to the parser: every label inside a rule is an edge, in
whichever attribute, and labels outside rules (constants, .bzl files) count for
the whole package. Reading files rather than asking Bazel keeps the test free of
a Bazel inside Bazel, and lets it see packages that nobody depends on.
"""

import ast
import fnmatch
import os
import re
import sys
import tempfile

LABEL = re.compile(r'(?<![\w:/])(@[\w.-]*)?//([\w./-]*)(?::([\w./+=,@~-]+))?')
# Attributes that name packages without depending on them.
NO_EDGE = {'visibility', 'default_visibility', 'tags', 'features'}

# No packages of ours.
SPECIAL = {'visibility', 'conditions', 'external'}


class Row:

    def __init__(self, level, name, members, uses, test_uses, flags):
        self.level, self.name, self.members = level, name, members
        self.uses, self.test_uses, self.flags = uses, test_uses, flags


class Target:

    def __init__(self, package, name, for_tests, labels):
        self.package, self.name = package, name
        self.for_tests, self.labels = for_tests, labels

    def __str__(self):
        return f'//{self.package}:{self.name}'


def parse_table(text):
    rows = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split('#')[0].strip()
        if not line:
            continue
        match = re.fullmatch(r'(\d+) (\w+) += ([^;]*?) :( [^;]*)?((?: *;.*)?)', line)
        if not match:
            raise ValueError(f'docs/layers.txt:{number}: not a row: {line}')
        level, name, members, uses, rest = match.groups()
        test_uses, flags = [], set()
        for part in (p.split() for p in rest.split(';')):
            if part and part[0] == 'tests':
                test_uses = part[1:]
            else:
                flags.update(part)
        rows[name] = Row(int(level), name, members.split(), (uses or '').split(),
                         test_uses, flags)
    return rows


def matches(member, package, name):
    """How precisely a member of a row names a target; 0 when it does not."""
    path, colon, pattern = member[2:].partition(':')
    if pattern:
        return 1000 if path == package and fnmatch.fnmatchcase(name, pattern) else 0
    if colon:  # '//:' is the root package alone
        return 1 if package == path else 0
    return 2 + len(path) if (package + '/').startswith(path + '/') else 0


def row_of(rows, package, name):
    best = max(((matches(m, package, name), row.name)
                for row in rows.values() for m in row.members))
    return rows[best[1]] if best[0] else None


def allowed(rows, row, for_tests):
    """The members that targets of a row may depend on."""
    result, seen = set(row.members), set()

    def add(use, level):
        if use == '*':
            for other in rows.values():
                if other.level <= level and 'testonly' not in other.flags:
                    add(other.name, level)
        elif use.startswith('//'):
            result.add(use)
            path, _, name = use[2:].partition(':')
            owner = row_of(rows, path, name.replace('*', ''))
            if owner:
                closure(owner)
        else:
            result.update(rows[use].members)
            closure(rows[use])

    def closure(other):
        if other.name not in seen:
            seen.add(other.name)
            for use in other.uses:
                add(use, other.level)

    closure(row)
    if for_tests:
        for use in row.test_uses:
            add(use, row.level)
        for other in rows.values():
            if 'testonly' in other.flags and other.level <= row.level:
                result.update(other.members)
    return result


def table_errors(rows):
    for row in rows.values():
        for use in row.uses:
            if use == '*' or use.startswith('//'):
                continue
            if use not in rows:
                yield f'docs/layers.txt: {row.name} uses {use}, which is no row'
            elif rows[use].level > row.level:
                yield f'docs/layers.txt: {row.name} uses {use} of a higher level'
            elif 'top' in rows[use].flags:
                yield f'docs/layers.txt: {row.name} uses {use}, which serves nobody'
    # No circle, whatever the levels.
    done, path = set(), []

    def visit(name):
        if name in path:
            return f'docs/layers.txt: a circle: {" -> ".join(path + [name])}'
        if name in done:
            return None
        path.append(name)
        for use in rows[name].uses:
            if use in rows:
                error = visit(use)
                if error:
                    return error
        path.pop()
        done.add(name)
        return None

    for name in rows:
        error = visit(name)
        if error:
            yield error
            return


def labels_in(node, package, siblings):
    for child in ast.walk(node):
        if not (isinstance(child, ast.Constant) and isinstance(child.value, str)):
            continue
        text = child.value
        if text.startswith(':'):
            yield package, text[1:]
        elif text in siblings:
            yield package, text
        for repository, path, name in LABEL.findall(text):
            if repository in ('', '@', '@tilewright') and path not in SPECIAL:
                yield path.rstrip('/'), name or path.split('/')[-1]


def constant(call, attribute):
    for keyword in call.keywords:
        if keyword.arg == attribute and isinstance(keyword.value, ast.Constant):
            return keyword.value.value
    return None


def parse_file(path, package):
    with open(path, encoding='utf-8') as file:
        tree = ast.parse(file.read(), path)
    is_build = not path.endswith('.bzl')
    calls = []
    if is_build:
        for statement in tree.body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Call) and any(
                        k.arg == 'name' for k in node.keywords):
                    calls.append(node)
    siblings = {constant(call, 'name') for call in calls} - {None}
    default_testonly = any(
        isinstance(node, ast.Call) and constant(node, 'default_testonly')
        for node in ast.walk(tree)) if is_build else False
    inside = set()
    for call in calls:
        kind = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(
            call.func, 'id', '')
        inside.update(id(node) for node in ast.walk(call))
        if kind == 'package_group':
            continue
        labels = set()
        for keyword in call.keywords:
            if keyword.arg not in NO_EDGE | {'name'}:
                labels.update(labels_in(keyword.value, package, siblings))
        for_tests = (default_testonly or bool(constant(call, 'testonly')) or
                     kind.endswith(('_test', '_binary')) or kind == 'test_suite')
        yield Target(package, constant(call, 'name') or '*', for_tests, labels)
    # Constants and .bzl files: attributed to the whole package.
    labels = set()
    for statement in tree.body:
        value = getattr(statement, 'value', None)
        if isinstance(value, ast.Call) and getattr(value.func, 'id', '') in (
                'load', 'package', 'licenses', 'exports_files'):
            continue
        for node in ast.walk(statement):
            if id(node) not in inside and isinstance(node, ast.Constant):
                labels.update(labels_in(node, package, set()))
    if labels:
        yield Target(package, os.path.basename(path), False, labels)


def all_targets(root):
    for folder, folders, files in os.walk(root):
        relative = os.path.relpath(folder, root).replace(os.sep, '/')
        relative = '' if relative == '.' else relative
        if relative and 'WORKSPACE' in files:  # another workspace
            folders[:] = []
            continue
        folders[:] = sorted(f for f in folders
                            if not f.startswith(('.', 'bazel-')))
        for name in sorted(files):
            if name in ('BUILD', 'BUILD.bazel') or name.endswith('.bzl'):
                yield from parse_file(os.path.join(folder, name), relative)


def check(root):
    with open(os.path.join(root, 'docs', 'layers.txt'), encoding='utf-8') as file:
        rows = parse_table(file.read())
    errors = list(table_errors(rows))
    edges = 0
    targets = list(all_targets(root))
    for target in targets:
        row = row_of(rows, target.package, target.name)
        if row is None:
            errors.append(f'{target} is in no row of docs/layers.txt; add it to one')
            continue
        permitted = allowed(rows, row, target.for_tests)
        for package, name in sorted(target.labels):
            used = row_of(rows, package, name)
            edges += 1
            if used is None:
                errors.append(f'{target} depends on //{package}:{name}, which is in '
                              'no row of docs/layers.txt; add it to one')
                continue
            # Third-party libraries, and files of the root, are free.
            if used is row or used.name in ('third_party', 'root'):
                continue
            owner = {m for m in used.members
                     if matches(m, package, name)} & permitted
            if owner or any(matches(m, package, name) for m in permitted
                            if ':' in m and m != '//:'):
                continue
            errors.append(
                f'{target} must not depend on //{package}:{name}: {row.name} (level '
                f'{row.level}) may not use {used.name} (level {used.level}); turn '
                'the dependency round, or pass what is needed in')
    return errors, len(targets), edges


# The checker's own test.

SELF_TABLE = '''
0 base = //base :
0 data = //data : ; testonly
1 graph = //graph : base
2 sketch = //sketch : graph
3 device = //backends:device* : base
3 codegen = //backends:codegen* : sketch
4 cpu = //backends/cpu : device ; tests codegen
4 measure = //measure : codegen
5 search = //search : //measure/record:store
7 tools = //tools : * ; top
7 docs = //docs : ; top
7 root = //: : ; top
'''


def lib(name, deps, rule='cc_library', more=''):
    return f'{rule}(name = "{name}", deps = {deps!r}, {more})\n'


SELF_CASES = [
    # (BUILD files, part of the expected error or None)
    ({'graph': lib('g', ['//base:b', ':own', '@abseil//x', '//base'])}, None),
    ({'sketch': lib('s', ['//base:b'])}, None),  # through graph
    ({'graph': lib('g', ['//sketch:s'])}, '//graph:g must not depend on //sketch:s'),
    ({'graph/deep': lib('g', ['//sketch'])}, '//graph/deep:g must not'),
    ({'graph': lib('t', ['//sketch:s'], 'cc_test')}, '//graph:t must not'),
    ({'graph': lib('g', [], more='data = select({"//conditions:default": ["//sketch:s"]})')}, 'must not'),
    ({'graph': lib('g', [], more='args = ["--f=$(location //sketch:s)"]')}, 'must not'),
    ({'graph': 'D = ["//sketch:s"]\n' + lib('g', [])}, '//graph:BUILD must not'),
    ({'graph': '[cc_library(name = n, deps = ["//sketch:" + n]) for n in ["s"]]\n'},
     'must not'),
    ({'graph': lib('g', [], more='visibility = ["//sketch:__pkg__"]')}, None),
    ({'backends': lib('device', ['//sketch:s'])}, '//backends:device must not'),
    ({'backends': lib('codegen', ['//sketch:s'])}, None),
    ({'backends': lib('device', [':codegen'])}, 'must not depend on //backends:codegen'),
    ({'backends': lib('device', ['codegen']) + lib('codegen', [])}, 'must not'),
    ({'backends': lib('other', [])}, 'in no row'),
    ({'backends/cpu': lib('c', ['//backends:codegen'])}, 'must not'),
    ({'backends/cpu': lib('c', ['//backends:codegen'], 'cc_test')}, None),
    ({'backends/cpu': lib('c', ['//sketch:s'], more='testonly = True')}, None),
    ({'search': lib('s', ['//measure/record:store', '//graph:g'])}, None),
    ({'search': lib('s', ['//measure:worker'])}, 'must not depend on //measure:worker'),
    ({'measure': lib('m', ['//search:s'])}, 'must not'),
    ({'graph': lib('g', ['//data:d'])}, 'must not'),
    ({'graph': lib('g', ['//data:d'], 'cc_test')}, None),
    ({'tools': lib('t', ['//search:s', '//backends/cpu:c'])}, None),
    ({'search': lib('s', ['//tools:t'])}, 'must not'),
    ({'new': lib('n', [])}, '//new:n is in no row'),
    ({'graph': lib('g', ['//nowhere:n'])}, '//nowhere:n, which is in no row'),
    ({'graph': '', 'graph/x.bzl': 'def f():\n  native.cc_library(deps = ["//sketch:s"])\n'},
     '//graph:x.bzl must not'),
]


def self_check():
    failures = []
    for files, expected in SELF_CASES:
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, 'docs'))
            with open(os.path.join(root, 'docs', 'layers.txt'), 'w') as file:
                file.write(SELF_TABLE)
            for path, text in files.items():
                path = path if path.endswith('.bzl') else path + '/BUILD'
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), 'w') as file:
                    file.write(text)
            errors, _, _ = check(root)
        good = not errors if expected is None else (
            len(errors) == 1 and expected in errors[0])
        if not good:
            failures.append(f'{files}\n  wanted {expected!r}, got {errors}')
    for table, expected in [
        ('0 a = //a : b\n1 b = //b :\n', 'higher level'),
        ('0 a = //a : b\n0 b = //b : a\n', 'a circle'),
        ('0 a = //a : c\n', 'no row'),
        ('0 a = //a : b\n0 b = //b : ; top\n', 'serves nobody'),
    ]:
        errors = list(table_errors(parse_table(table)))
        if not (len(errors) == 1 and expected in errors[0]):
            failures.append(f'{table}  wanted {expected!r}, got {errors}')
    return failures


def main():
    if sys.argv[1:] == ['--self']:
        failures = self_check()
        print('\n'.join(failures) or f'{len(SELF_CASES)} workspaces verified rightly')
        return 1 if failures else 0
    errors, targets, edges = check(sys.argv[1])
    print('\n'.join(errors) or f'{targets} targets, {edges} edges, all allowed')
    if not any(os.path.exists(os.path.join(sys.argv[1], 'base', f))
               for f in ('BUILD', 'BUILD.bazel')) or edges == 0:
        print(f'{sys.argv[1]} is not the root of the workspace')
        return 1
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
