#!/usr/bin/env python3
"""Checks that no C++ source is longer than MOST_LINES lines, no function longer
than MOST_FUNCTION_LINES, and no folder has more than MOST_SOURCES sources.

  sizes_test.py ROOT      check the workspace at ROOT
  sizes_test.py --self    check this checker on small made-up sources

Tests are as long as they need. Functions are found by their braces: a brace
behind a closing parenthesis, outside of any other function, begins one. What is
inside it, lambdas and local classes, counts with it.
"""

import os
import re
import sys

MOST_LINES = 400
MOST_FUNCTION_LINES = 80
MOST_SOURCES = 40

IS_SOURCE = re.compile(r'\.(cc|h)$')
IS_TEST = re.compile(r'(_test|_fuzz)\.cc$')

# Comments, strings and characters: they may hold braces.
TOKEN = re.compile(r'''
    //[^\n]* | /\*.*?\*/
    | R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)" | "(?:\\.|[^"\\\n])*"
    | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])'
    ''', re.X | re.S)
DIRECTIVE = re.compile(r'^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*', re.M)
# Text before a brace that opens a namespace, type or initialiser.
NO_FUNCTION = re.compile(r'^(template\s*<.*>\s*)?(class|struct|enum|union|extern)\b|'
                         r'\bnamespace\b|=\s*(\[.*\]\s*(\(.*\)\s*)?)?\S*$', re.S)


def bare(text):
    """The text without what TOKEN and DIRECTIVE match, of as many lines."""
    lines_of = lambda match: '\n' * match.group(0).count('\n')
    return DIRECTIVE.sub(lines_of, TOKEN.sub(lines_of, text))


def functions(text):
    """Yields (first line, number of lines, head) of each function."""
    stack = []  # of each open brace: whether a function's, the head, its line
    head, head_line, line = '', 0, 1
    for char in bare(text):
        line += char == '\n'
        if char == '{':
            inside = any(is_function for is_function, _, _ in stack)
            is_function = not inside and ')' in head and not NO_FUNCTION.search(head.strip())
            stack.append((is_function, head.strip(), head_line or line))
        elif char == '}' and stack:
            is_function, opened, first = stack.pop()
            if is_function:
                yield first, line - first + 1, ' '.join(opened.split())
        elif char != ';' or head.count('(') > head.count(')'):
            if not head_line and not char.isspace():
                head_line = line
            head += char
            continue
        head, head_line = '', 0


def errors_of(path, text):
    lines = text.count('\n')
    if lines > MOST_LINES:
        yield f'{path} has {lines} lines, more than {MOST_LINES}: split it'
    for first, length, head in functions(text):
        if length > MOST_FUNCTION_LINES:
            yield (f'{path}:{first}: {head[:60]} has {length} lines, more than '
                   f'{MOST_FUNCTION_LINES}: take it apart')


def check(root):
    errors, sources = [], 0
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith(('.', 'bazel-')))
        here = sorted(f for f in files if IS_SOURCE.search(f) and not IS_TEST.search(f))
        sources += len(here)
        room = os.path.relpath(folder, root)
        if len(here) > MOST_SOURCES:
            errors.append(f'{room} has {len(here)} sources, more than {MOST_SOURCES}: divide it')
        for name in here:
            path = os.path.join(folder, name)
            with open(path, encoding='utf-8') as file:
                errors.extend(errors_of(os.path.relpath(path, root), file.read()))
    return errors, sources


LONG_BODY = '  x();\n' * MOST_FUNCTION_LINES
SELF_CASES = [
    # (source, part of the expected error or None)
    ('int f() {\n' + '  x();\n' * (MOST_FUNCTION_LINES - 2) + '}\n', None),
    ('int f() {\n' + LONG_BODY + '}\n', 'int f() has 82 lines'),
    ('namespace a {\nclass B : public C<int> {\n void f(int a = g(1),\n  int b) const {\n'
     + LONG_BODY + '}\n};\n}\n', 'a.cc:3: void f(int a = g(1), int b) const has 83 lines'),
    ('class B {\n' + '  void f() { x(); }\n' * 90 + '};\n', None),
    ('MACRO(x)\n\nnamespace a {\n' + LONG_BODY.replace('x()', 'int x()') + '}\n', None),
    ('const auto f = [](int a) {\n' + LONG_BODY + '};\n', None),
    ('constexpr T kTable[] = {\n' + '  {"(", F()},\n' * 90 + '};\n', None),
    ('int f() {\n  g("}", \'}\', R"(})", 1\'000);  // }\n#define M }\n' + LONG_BODY + '}\n',
     'int f() has 84 lines'),
    ('int f() {\n  const auto g = [] {\n' + LONG_BODY + '  };\n}\n', 'int f() has 84 lines'),
    ('x;\n' * (MOST_LINES + 1), 'a.cc has 401 lines'),
]


def self_check():
    failures = []
    for text, expected in SELF_CASES:
        errors = list(errors_of('a.cc', text))
        good = not errors if expected is None else (
            len(errors) == 1 and expected in errors[0])
        if not good:
            failures.append(f'{text[:60]!r}\n  wanted {expected!r}, got {errors}')
    return failures


def main():
    if sys.argv[1:] == ['--self']:
        failures = self_check()
        print('\n'.join(failures) or f'{len(SELF_CASES)} sources measured rightly')
        return 1 if failures else 0
    errors, sources = check(sys.argv[1])
    print('\n'.join(errors) or f'{sources} sources, none too long')
    if sources == 0:
        print(f'{sys.argv[1]} is not the root of the workspace')
        return 1
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
