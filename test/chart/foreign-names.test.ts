import { parse, View } from 'vega'
import { expect, test } from 'vitest'
import { compileChart } from '../../src/chart/compile.ts'

test('a series may have the name of what every object has', () => {
  const chart = {
    heightPx: 200,
    vegaLite: {
      mark: 'line',
      encoding: {
        x: { field: 'at', type: 'quantitative' },
        y: { field: 'remaining', type: 'quantitative' },
        color: { field: 'account', type: 'nominal' },
      },
    },
  } as unknown as Parameters<typeof compileChart>[0]
  for (const name of Object.getOwnPropertyNames(Object.prototype)) {
    const rows = [name, 'b'].flatMap((account) =>
      [1, 2].map((at) => ({ at, remaining: 5 - at, account })),
    )
    const { spec } = compileChart(chart, rows, { widthPx: 600 })!
    expect(() => new View(parse(spec as never), { renderer: 'none' })).not.toThrow()
    expect(JSON.stringify(spec)).toContain(name)
  }
})
