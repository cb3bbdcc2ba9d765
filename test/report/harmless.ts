import { expect } from 'vitest'

/** Terminal controls (C0 without tab and line feed, C1) and bidirectional marks. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
const acting = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/

/** Text that a terminal shows literally. */
export function expectQuiet(text: string, what: string, longest = 300_000): void {
  const at = text.search(acting)
  expect(at === -1 ? null : JSON.stringify(text.slice(at - 40, at + 20)), what).toBeNull()
  expect(text.length, what).toBeLessThan(longest)
}

/** Markdown with complete tables and no foreign markup. */
export function expectPlainMarkdown(text: string, what: string): void {
  expectQuiet(text, what)
  const outside = text.replace(/^```[\s\S]*?^```$/gm, '').split('\n')
  let columns: number | null = null
  for (const line of outside) {
    const cells = line.startsWith('|') ? line.replace(/\\[\s\S]/g, '').split('|').length : null
    if (cells !== null && columns !== null)
      expect(cells, `${what}: ${line.slice(0, 200)}`).toBe(columns)
    columns = cells
    const bare = line.replace(/\\[\s\S]/g, '').replace(/`[^`]*`/g, '')
    expect(bare, what).not.toMatch(/<(?!\/?(?:details|summary)>)|!\[|\]\(/)
    expect(bare, what).not.toMatch(/^# ?heading|^=cmd/)
  }
}

/** CSV (RFC 4180) of equally long records, without a cell that starts a formula. */
export function expectNoFormula(text: string, what: string): void {
  const records = recordsOf(text)
  expect(new Set(records.map((record) => record.length)).size, what).toBe(1)
  for (const cell of records.flat()) {
    if (Number.isFinite(Number(cell))) continue
    expect(cell.slice(0, 80), what).not.toMatch(/^\s*[=+\-@\t\r]/)
    expectQuiet(cell.replaceAll('\r\n', '\n'), what)
  }
}

function recordsOf(text: string): readonly (readonly string[])[] {
  const records: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g,
  )) {
    records.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    if (end !== ',') records.push([])
  }
  return records.filter((record) => record.length > 1 || (record[0] ?? '') !== '')
}

/** A page in which no foreign text is markup. */
export function expectPlainHtml(text: string, what: string): void {
  const [markup, ...scripts] = text.split('<script')
  expect(scripts.length, what).toBeLessThanOrEqual(3)
  for (const tag of ['<img', '<svg onload', '<!--', '<style>*']) {
    expect(markup!.includes(tag), `${what}: ${tag}`).toBe(false)
  }
  for (const mark of ['\u001b', '\u0000', '\u0007', '\u009b', '\u202e', '\u2066']) {
    expect(text.includes(mark), `${what}: ${JSON.stringify(mark)}`).toBe(false)
  }
  expect(text.length, what).toBeLessThan(3_000_000)
}

/** XML with valid characters and only these elements. */
export function expectXmlOf(elements: readonly string[], text: string, what: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
  expect(text, what).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/)
  const found = [...text.matchAll(/<\/?([^\s/>]*)/g)].map(([, name]) => name)
  expect(
    [...new Set(found)].filter((name) => !elements.includes(name!)),
    what,
  ).toEqual([])
}
