import { expect, test } from 'vitest'
import { printable as auditText } from '../../src/audit/format/printable.ts'
import { csvCell, jsonText, markdownCell, printable } from '../../src/report/summary/printable.ts'
import { safeJson } from '../../src/user/hostile.ts'
import { html } from '../../src/user/html.ts'

/** A control, direction marks, zero widths, a soft hyphen, separators, a lone surrogate, a noncharacter. */
const hostile =
  '\u001b\u009b\u061c\u200b\u200e\u202e\u2066\u2060\ufeff\u00ad\u2028\u2029\ud800\uffff'

test.each([
  ['a finding', auditText],
  ['a table on the terminal', (text: string) => printable(text)],
  ['a table in Markdown', (text: string) => markdownCell(text)],
  ['JSON of a summary', (text: string) => jsonText(text)],
  ['JSON of an audit', (text: string) => safeJson(JSON.stringify(text))],
  ['CSV', csvCell],
  ['a page', (text: string) => html`${text}`.text],
])('no hostile character reaches %s', (_, shown) => {
  for (const character of hostile) {
    const text = shown(`a${character}ä`)
    expect(text).toMatch(/^"?a.*ä"?$/)
    expect(text).not.toContain(character)
  }
})
