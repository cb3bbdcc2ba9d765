import { describe, expect, test } from 'vitest'
import { renderPng } from '../../src/chart/png.ts'
import { type ChartSpec, parseChart } from '../../src/chart/spec.ts'
import { renderPicture, renderSvg } from '../../src/chart/svg.ts'

const chart: ChartSpec = parseChart(
  JSON.stringify({
    title: 'Latency by <step> & "time"',
    description: 'Lines of latency in milliseconds against seconds.',
    usermeta: { empty: 'No request succeeded.' },
    mark: 'line',
    encoding: {
      x: { field: 't', type: 'quantitative', title: 'time (s)' },
      y: { field: 'v', type: 'quantitative', title: 'latency (ms)' },
      color: { field: 'step', type: 'nominal' },
    },
  }),
  'test',
)
const rows = Array.from({ length: 60 }, (_, t) => ({
  t,
  v: (t * 37) % 900,
  step: t % 2 ? 'a' : 'b',
}))
const size = { id: 'c1', widthPx: 500 }

describe('a drawing', () => {
  test('has the same bytes for the same rows, whatever was drawn before', {
    tags: 'whole',
  }, async () => {
    const first = await renderSvg(chart, rows, size)
    await renderSvg(chart, rows, { ...size, id: 'other' })
    expect((await renderSvg(chart, rows, size)).svg).toBe(first.svg)
    expect(first.warnings).toEqual([])
  })

  test('carries an escaped title and description for screen readers', async () => {
    const { svg } = await renderSvg(chart, rows, size)
    expect(svg).toContain('<title id="c1-t">Latency by &lt;step&gt; &amp; &quot;time&quot;</title>')
    expect(svg).toContain('role="img" aria-labelledby="c1-t c1-d"')
  })

  test('shows the signs of money in its title and its id as they are', async () => {
    const { svg } = await renderSvg({ ...chart, title: 'US$1, $& and $$' }, rows, {
      ...size,
      id: 'c$1',
    })
    expect(svg).toContain('<title id="c$1-t">US$1, $&amp; and $$</title>')
    for (const [, id] of svg.matchAll(/ id="([^"]*)"/g)) expect(id).toMatch(/^c\$1-/)
  })

  test('takes its colours from variables of the page, so dark mode and print reuse it', async () => {
    const { svg } = await renderSvg(chart, rows, size)
    expect(svg).toContain('stroke="var(--c1)"')
    expect(svg).not.toMatch(/#[0-9a-f]{6}/i)
  })

  test('writes thousands on axes as 20k and small numbers in full', async () => {
    const { svg } = await renderSvg(
      chart,
      rows.map((row) => ({ ...row, v: row.v * 100 })),
      size,
    )
    expect(svg).toContain('>20k<')
    expect(svg).toContain('>10<')
    expect(svg).not.toContain('>0k<')
  })

  test.each([
    [500, 'messages-stream: response'],
    [311, 'event-loop delay p99'],
  ])('%i px wide does not shorten a name that fits: %s', async (widthPx, step) => {
    const { svg } = await renderSvg(
      chart,
      rows.map((row) => ({ ...row, step })),
      { id: 'c1', widthPx },
    )
    expect(svg).toContain(`>${step}<`)
  })

  test('without rows shows the text for an empty chart', async () => {
    const { svg, warnings } = await renderSvg(chart, [], size)
    expect(svg).toContain('No request succeeded.')
    expect(warnings).toEqual([])
  })

  test('shows hostile names as text', async () => {
    const step = '</text><script>alert(1)</script>\u001b[31m\u202egnirts'
    const { svg } = await renderSvg(
      chart,
      rows.map((row) => ({ ...row, step })),
      size,
    )
    expect(svg).not.toContain('<script')
    for (const mark of ['\u001b', '\u202e']) expect(svg).not.toContain(mark)
    expect(svg).toContain('&lt;script&gt;')
  })

  test('reports the warnings of Vega', async () => {
    const spec = {
      mark: 'bar',
      encoding: { x: { field: 't', type: 'quantitative', scale: { type: 'log' }, title: 'x' } },
    }
    const odd = { ...chart, vegaLite: spec as never }
    expect((await renderSvg(odd, [{ t: 0 }], size)).warnings).not.toEqual([])
  })
})

describe('a picture', () => {
  test('is self-contained: it has a title and literal colours', async () => {
    const { svg } = await renderPicture(chart, rows, { widthPx: 600 })
    expect(svg).toContain('Latency by &lt;step&gt;')
    expect(svg).not.toContain('var(--')
  })

  test('has its title on white without rows, too', async () => {
    const { svg } = await renderPicture(chart, [], { widthPx: 600 })
    expect(svg).toContain('Latency by &lt;step&gt;')
    expect(svg).toContain('No request succeeded.')
    expect(svg).toContain('fill="#ffffff"')
  })

  test('is a PNG of twice its size in pixels', async () => {
    const { png } = await renderPng(chart, rows, { widthPx: 600 })
    const view = new DataView(png.buffer, png.byteOffset)
    expect(view.getUint32(0)).toBe(0x89504e47)
    expect([view.getUint32(16), view.getUint32(20)]).toEqual([1200, 480])
  })
})
