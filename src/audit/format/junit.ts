import { lookup } from '../../user/lookup.ts'
import { printable } from './printable.ts'

/** A suite of `<testcase>` elements, with the attributes that the common schemas of JUnit require. */
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

/** Escapes foreign text for XML, and shows its control characters. */
export function xml(text: string): string {
  const escapes: Record<string, string> = lookup({
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  })
  return text
    .split('\n')
    .map((line) => printable(line).replace(/[&<>"]/g, (character) => escapes[character]!))
    .join('&#10;')
}
