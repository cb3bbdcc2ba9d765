import { describe, expect, test } from 'vitest'
import { parseChart } from '../../src/chart/spec.ts'
import { UserError } from '../../src/user/user-error.ts'

const good = {
  title: 'Requests over time',
  description: 'Line chart of requests against time.',
  usermeta: { empty: 'No request.' },
  mark: 'line',
  encoding: {
    x: { field: 't', type: 'quantitative', title: 'time (s)' },
    y: { field: 'n', type: 'quantitative', title: 'requests' },
  },
}

const issuesOf = (spec: unknown) => {
  try {
    parseChart(JSON.stringify(spec), 'mine.vl.json')
    return ''
  } catch (error) {
    expect(error).toBeInstanceOf(UserError)
    return (error as Error).message
  }
}

describe('a chart file', () => {
  test('gives its title, its text for an empty chart and its height', () => {
    expect(parseChart(JSON.stringify({ ...good, height: 120 }), 'x')).toMatchObject({
      title: 'Requests over time',
      empty: 'No request.',
      heightPx: 120,
    })
  })

  test('reports every issue at once, with the file name', () => {
    const message = issuesOf({ mark: 'line', encoding: { x: { field: 't' } }, hconcat: [] })
    expect(message).toContain('mine.vl.json')
    for (const issue of [
      '"title"',
      '"description"',
      '"usermeta.empty"',
      '"hconcat"',
      '"x" must have a title',
    ]) {
      expect(message).toContain(issue)
    }
  })

  test('may not load data: rows come from its query', () => {
    expect(issuesOf({ ...good, data: { url: 'https://example.org/x.csv' } })).toContain('"data"')
    expect(
      issuesOf({
        ...good,
        transform: [{ lookup: 'a', from: { data: { url: 'x.csv' }, key: 'a' } }],
      }),
    ).toContain('"transform[0].from.data"')
  })

  test('is refused with its name if it is not JSON', () => {
    expect(() => parseChart('{', 'mine.vl.json')).toThrow(/^mine\.vl\.json is not JSON/)
  })
})
