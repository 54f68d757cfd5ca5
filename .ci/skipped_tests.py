#!/usr/bin/env python3
"""Prints what the tests of a Bazel run left out, and why.

  skipped_tests.py LOG TESTLOGS    the tests whose results LOG lists, in the
                                   folder `bazel-testlogs`
  skipped_tests.py --self          check this script on made-up logs

A test that passes may have left out cases: gtest's GTEST_SKIP, a line
"SKIPPED: REASON" of a script, and "N passed, ..., N skipped" of tests that
count cases themselves. Bazel calls all of these passed.
"""

import collections
import os
import re
import sys
import tempfile

RESULT = re.compile(
    r'^//(\S*):(\S+) +(?:\([0-9/ ]*cached\) )?(?:PASSED|FLAKY|FAILED|TIMEOUT)', re.M)
# The line that names the test stands after its reason; the list at the end
# names it again, without a time.
GTEST = re.compile(r'^\[  SKIPPED \] \S+ \(\d+ ms\)$', re.M)
GTEST_REASON = re.compile(r'^\S+: Skipped\n(.*)$', re.M)
SCRIPT = re.compile(r'^SKIPPED: (.*)$', re.M)
COUNTED = re.compile(r'^\d+ passed,.* (\d+) skipped$', re.M)

# A test whose cases are left out for more reasons than these: the rest is summed.
MOST_REASONS = 3


def skipped_in(text):
    """Reason -> count."""
    reasons = collections.Counter()
    given = GTEST_REASON.findall(text)
    for reason in given:
        reasons[reason.strip() or 'no reason given'] += 1
    silent = len(GTEST.findall(text)) - len(given)
    if silent > 0:
        reasons['no reason given'] += silent
    for reason in SCRIPT.findall(text):
        reasons[reason.strip()] += 1
    for count in COUNTED.findall(text):
        if int(count):
            reasons['cases, which its log names'] += int(count)
    return reasons


def logs_of(testlogs, package, name):
    for folder, _, files in os.walk(os.path.join(testlogs, package, name)):
        if 'test.log' in files:
            yield os.path.join(folder, 'test.log')


def report(log, testlogs):
    lines, total, tests = [], 0, 0
    for package, name in sorted(set(RESULT.findall(log))):
        reasons = collections.Counter()
        for path in logs_of(testlogs, package, name):
            with open(path, encoding='utf-8', errors='replace') as file:
                reasons += skipped_in(file.read())
        tests += bool(reasons)
        total += sum(reasons.values())
        for reason, count in reasons.most_common(MOST_REASONS):
            lines.append(f'{count:5}  //{package}:{name}: {reason}')
        others = sum(reasons.values()) - sum(
            count for _, count in reasons.most_common(MOST_REASONS))
        if others:
            lines.append(f'{others:5}  //{package}:{name}: for other reasons, '
                         'which its log names')
    return [f'== {total} skipped, in {tests} tests'] + lines


def self_check():
    log = ('//a/b:one_test   PASSED in 0.1s\n'
           '//a/b:two_test   (1/2 cached) PASSED in 0.1s\n'
           '  Stats over 2 runs: max = 1s\n'
           '//:root_test   FAILED in 0.1s\n'
           '//a/b:none_test   PASSED in 0.1s\n'
           '//a/b:many_test   PASSED in 0.1s\n')
    logs = {
        'a/b/one_test/test.log':
            '[ RUN      ] T.A\nx/y.cc:61: Skipped\nno driver\n\n'
            '[  SKIPPED ] T.A (0 ms)\n[ RUN      ] T.B\n'
            'x/y.cc:61: Skipped\n\n[  SKIPPED ] T.B (1 ms)\n'
            '[  SKIPPED ] 2 tests, listed below:\n[  SKIPPED ] T.A\n'
            '[  SKIPPED ] T.B\n',
        'a/b/two_test/shard_1_of_2/test.log': '5 passed, 0 failed, 3 skipped\n',
        'a/b/two_test/shard_2_of_2/test.log': '5 passed, 0 failed, 4 skipped\n',
        'root_test/test.log': 'SKIPPED: no data\n',
        'a/b/none_test/test.log': '5 passed, 0 failed, 0 skipped\n',
        'a/b/many_test/test.log':
            ''.join(f'SKIPPED: reason {i}\n' for i in (1, 1, 2, 2, 3, 3, 4, 5)),
        'a/b/stale_test/test.log': 'SKIPPED: not of this run\n',
    }
    wanted = ['== 18 skipped, in 4 tests',
              '    1  //:root_test: no data',
              '    2  //a/b:many_test: reason 1',
              '    2  //a/b:many_test: reason 2',
              '    2  //a/b:many_test: reason 3',
              '    2  //a/b:many_test: for other reasons, which its log names',
              '    1  //a/b:one_test: no driver',
              '    1  //a/b:one_test: no reason given',
              '    7  //a/b:two_test: cases, which its log names']
    with tempfile.TemporaryDirectory() as root:
        for path, text in logs.items():
            path = os.path.join(root, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(text)
        got = report(log, root)
    if got != wanted:
        print('wanted', *wanted, 'got', *got, sep='\n')
        return 1
    print('made-up logs read rightly')
    return 0


def main():
    if sys.argv[1:] == ['--self']:
        return self_check()
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding='utf-8', errors='replace') as file:
        print('\n'.join(report(file.read(), sys.argv[2])))
    return 0


if __name__ == '__main__':
    sys.exit(main())
