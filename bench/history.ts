/**
 * What `compare --history` finds in simulated histories with a noise of 2 %: `npx node bench/history.ts [--histories 200]`.
 * Prints the rates of decision 0815, in about half a minute on a quiet machine.
 */
import { parseArgs } from 'node:util'
import { stepsOf } from '../src/measure/interval/history.ts'
import { RandomStream } from '../src/schedule/random.ts'
import { randomOf } from '../src/user/random.ts'

const { values } = parseArgs({ options: { histories: { type: 'string', default: '200' } } })
const histories = Number(values.histories)

interface Shape {
  readonly name: string
  readonly builds: number
  /** Level of each build. */
  readonly level: (at: number) => number
  /** Builds from which on the level differs. */
  readonly steps: readonly number[]
}

const oneStep = (size: number): Shape => ({
  name: `one step of ${Math.round(size * 100)} %`,
  ...{ builds: 40, level: (at) => (at < 30 ? 1 : 1 + size), steps: [30] },
})

const shapes: readonly Shape[] = [
  { name: 'one level', builds: 40, level: () => 1, steps: [] },
  oneStep(0.03),
  oneStep(0.05),
  oneStep(0.2),
  {
    name: 'a staircase of two steps of 20 %',
    ...{ builds: 60, level: (at) => 1.2 ** Math.floor(at / 20), steps: [20, 40] },
  },
  {
    name: 'a step of 20 % that is taken back',
    ...{ builds: 60, level: (at) => (at >= 20 && at < 40 ? 1.2 : 1), steps: [20, 40] },
  },
]

const percent = (count: number) => `${Math.round((100 * count) / histories)} %`
const isNear = (at: number, places: readonly number[]) =>
  places.some((place) => Math.abs(at - place) <= 2)

process.stdout.write(
  '| history | every step found within two builds | a further, false step |\n| --- | --- | --- |\n',
)
for (const { name, builds, level, steps } of shapes) {
  let [all, further] = [0, 0]
  for (let seed = 0; seed < histories; seed++) {
    const draws = new RandomStream(seed, 'histories')
    const series = Array.from(
      { length: builds },
      (_, at) => 100 * Math.exp(0.02 * draws.normal(at)) * level(at),
    )
    const found = stepsOf(series, randomOf(seed + 1)).map(({ at }) => at)
    if (steps.length > 0 && steps.every((step) => isNear(step, found))) all++
    if (found.length > steps.length || found.some((at) => !isNear(at, steps))) further++
  }
  process.stdout.write(
    `| ${name} | ${steps.length === 0 ? '-' : percent(all)} | ${percent(further)} |\n`,
  )
}
