import { streamNames } from '../measure/measures.ts'
import type { Scenario } from './scenario.ts'
import type { Step } from './steps.ts'

/** Times that only a stream has. */
const ofStreams: readonly string[] = [...streamNames, 'itl', 'fluidity']

/** A sentence for each threshold that no sample can decide, because none of its steps streams. */
export function undecidable({ thresholds, steps }: Scenario): readonly string[] {
  return thresholds.flatMap(({ metric, step, text }) => {
    if (!ofStreams.includes(metric)) return []
    const judged = steps.filter(({ name }) => step === null || name === step)
    if (judged.some(isStreamed)) return []
    const who = step === null ? 'no step streams' : `step ${step} does not stream`
    return [
      `${text} cannot be decided: ${who}; give it stream: true, or judge service or response.`,
    ]
  })
}

const isStreamed = ({ stream, body }: Step) => (body.stream ?? stream) === true
