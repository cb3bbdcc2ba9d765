import type { Behaviour, Kit, Piece, Timing } from '../behaviour.ts'
import type { Call } from '../call.ts'
import { draw } from '../distribution.ts'
import { type Answer, type Choice, intendedText, limited, prose, requestHash } from '../generate.ts'
import type { Shape } from '../options.ts'
import { seededRandom } from '../random.ts'

type Generation = Pick<Behaviour, 'generate' | 'answer' | 'timing' | 'usage'>

/** Share of the tokens that the thinking model spends on its reasoning. */
const reasoningShare = 0.4

export function honestGeneration(
  { contract, profile, clock, random }: Kit,
  shape: Shape,
  seed: number,
  timing: (call: Call, answer: Answer) => Timing,
  answer: (call: Call) => Answer,
): Generation {
  const choice = (call: Call, ownSeed: number): Choice => {
    const request = call.request!
    const maxTokens = Math.min(request.maxTokens, contract.limits.maxOutputTokens)
    const { lengthTokens } = shape
    const length =
      lengthTokens.kind === 'constant'
        ? lengthTokens.value
        : draw(lengthTokens, seededRandom(ownSeed))
    const wanted = Math.max(1, Math.round(length))
    const thinks = call.model?.reasoning === true && profile.reasoning !== 'nowhere'
    const thought = thinks ? Math.min(Math.ceil(wanted * reasoningShare), maxTokens >> 1) : 0
    const reasoning = thought === 0 ? [] : prose(thought, ownSeed ^ 0x5bd1e995)
    const intended = intendedText(request, wanted, ownSeed)
    const kept = limited(
      intended,
      maxTokens - thought,
      request.stop,
      profile.stopText === 'included',
    )
    return { reasoning, ...kept }
  }
  return {
    answer(call) {
      const request = call.request!
      const ownSeed = requestHash(request, seed)
      const choices = Array.from({ length: request.n }, (_, index) =>
        choice(call, ownSeed + index * 0x9e3779b9),
      )
      const completionTokens = choices.reduce((sum, each) => sum + lengthOf(each), 0)
      return { choices, promptTokens: call.promptTokens, completionTokens }
    },
    timing: () => ({
      toFirstUs: draw(shape.timeToFirstUs, random),
      gapUs: () => draw(shape.betweenTokensUs, random),
    }),
    usage: (_call, { promptTokens, completionTokens }) => ({
      promptTokens,
      completionTokens,
      totalTokens: promptTokens + completionTokens,
    }),
    generate(call, sink) {
      const made = answer(call)
      const { toFirstUs, gapUs } = timing(call, made)
      const steps = Math.max(1, ...made.choices.map(lengthOf))
      let dueUs = clock.nowUs() + toFirstUs
      if (call.request?.stream !== true) {
        for (let step = 1; step < steps; step++) dueUs += gapUs()
        if (dueUs <= clock.nowUs()) {
          sink.done(made)
          return () => {}
        }
        return clock.at(dueUs, () => sink.done(made))
      }
      let step = 0
      // Due times add up, so that lateness of one piece does not push the next; what has become
      // due meanwhile goes out together.
      const next = (nowUs: number): number | null => {
        const pieces: Piece[] = []
        do {
          for (let choice = 0; choice < made.choices.length; choice++) {
            const piece = pieceAt(made.choices[choice]!, step, choice)
            if (piece !== null) pieces.push(piece)
          }
          step++
          dueUs += gapUs()
        } while (step < steps && dueUs <= nowUs)
        sink.pieces(pieces)
        if (step < steps) return dueUs
        sink.done(made)
        return null
      }
      const nowUs = clock.nowUs()
      const againUs = dueUs > nowUs ? dueUs : next(nowUs)
      return againUs === null ? () => {} : clock.pace(againUs, next)
    },
  }
}

function lengthOf({ reasoning, pieces }: Choice): number {
  return reasoning.length + pieces.length
}

function pieceAt({ reasoning, pieces }: Choice, step: number, choice: number): Piece | null {
  const thinking = step < reasoning.length
  const text = thinking ? reasoning[step] : pieces[step - reasoning.length]
  return text === undefined || text === '' ? null : { choice, text, reasoning: thinking }
}
