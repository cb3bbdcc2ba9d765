import { junitSuite, xml } from '../../audit/format/junit.ts'
import type { RunResult } from '../../run/run.ts'
import { figureText } from './run-judgement.ts'

/** A run as JUnit: its verdict and each threshold are test cases, and inconclusive is a failure. */
export function runJunit(
  { scenario, verdict, thresholds }: Pick<RunResult, 'scenario' | 'verdict' | 'thresholds'>,
  at: Date,
): string {
  const valid = verdict.verdict !== 'invalid'
  const cases = [
    { name: 'the run is valid', failure: valid ? null : ['invalid', verdict.summary] },
    ...thresholds.map((threshold) => ({
      name: threshold.text,
      failure:
        threshold.result === 'held'
          ? null
          : [threshold.result, threshold.value === null ? 'no samples' : figureText(threshold)],
    })),
  ]
  return junitSuite(
    `assay run ${scenario}`,
    { failed: cases.filter(({ failure }) => failure !== null).length, skipped: 0 },
    at,
    cases.map(({ name, failure }) => {
      const inside =
        failure === null ? '' : `<failure type="${failure[0]}" message="${xml(failure[1]!)}"/>`
      return `    <testcase classname="assay.run" name="${xml(name)}" time="0">${inside}</testcase>`
    }),
  )
}
