import { printable } from './printable.ts'

/** A suite of test cases, each a `<testcase>` of its own, with what the common schemas of JUnit require. */
export function junitSuite(
  name: string,
  { failed, skipped }: { readonly failed: number; readonly skipped: number },
  at: Date,
  cases: readonly string[],
): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite name="${xml(name)}" tests="${cases.length}" failures="${failed}" errors="0" skipped="${skipped}" time="0" timestamp="${at.toISOString().slice(0, 19)}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

/** Text of others as text of XML, with its control characters shown. */
export function xml(text: string): string {
  const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text
    .split('\n')
    .map((line) => printable(line).replace(/[&<>"]/g, (character) => escapes[character]!))
    .join('&#10;')
}
