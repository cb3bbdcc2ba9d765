import type { Behaviour, Kit, Piece, Sink, Timing } from '../behaviour.ts'
import type { Call } from '../call.ts'
import type { Clock } from '../clock.ts'
import { draw } from '../distribution.ts'
import { type Answer, type Choice, intendedText, limited, prose, requestHash } from '../generate.ts'
import type { Shape } from '../options.ts'
import { seededRandom } from '../random.ts'
import { piecesOf } from '../tokens.ts'
import { argumentsIn, jsonOf, toolToCall } from '../tool-call.ts'
import { firstToken, wordAsked } from './first-token.ts'

type Generation = Pick<Behaviour, 'generate' | 'answer' | 'timing' | 'usage'>

/** Share of the tokens that the thinking model spends on reasoning. */
const reasoningShare = 0.4

export function honestGeneration(
  { contract, profile, clock, random }: Kit,
  shape: Shape,
  seed: number,
  timing: (call: Call, answer: Answer) => Timing,
  answer: (call: Call) => Answer,
): Generation {
  const firsts = seededRandom(seed ^ 0x51ed270b)
  const choice = (call: Call, ownSeed: number): Choice => {
    const request = call.request!
    const maxTokens = Math.min(request.maxTokens, contract.limits.maxOutputTokens)
    const { lengthTokens } = shape
    const length =
      lengthTokens.kind === 'constant'
        ? lengthTokens.value
        : draw(lengthTokens, seededRandom(ownSeed))
    const wanted = Math.max(1, Math.round(length))
    const reasons = request.thinks ?? call.model?.reasoning === true
    const thinks = reasons && profile.reasoning !== 'nowhere'
    const thought = thinks ? Math.min(Math.ceil(wanted * reasoningShare), maxTokens >> 1) : 0
    const reasoning = thought === 0 ? [] : prose(thought, ownSeed ^ 0x5bd1e995)
    const tool = toolToCall(request)
    if (tool !== null) {
      const given = piecesOf(argumentsIn(request) ?? jsonOf(tool.parameters, ownSeed))
      return { reasoning, tool: tool.name, ...limited(given, maxTokens - thought, [], false) }
    }
    const word = wordAsked(request)
    const intended =
      word === null
        ? intendedText(request, wanted, ownSeed)
        : [firstToken(request.model, word, firsts), ' that']
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
      // Most requests have one choice, and for one, spread and `Array.from` are slow.
      const choices: Choice[] = [choice(call, ownSeed)]
      for (let index = 1; index < request.n; index++) {
        choices.push(choice(call, ownSeed + index * 0x9e3779b9))
      }
      const completionTokens = choices.reduce((sum, each) => sum + lengthOf(each), 0)
      return { choices, promptTokens: call.promptTokens, completionTokens }
    },
    timing: (call) => ({
      toFirstUs: draw(shape.timeToFirstUs, random) * tierShare(call),
      gapUs: () => draw(shape.betweenTokensUs, random),
    }),
    usage: (_call, { promptTokens, completionTokens }) => ({
      promptTokens,
      completionTokens,
      totalTokens: promptTokens + completionTokens,
    }),
    generate(call, sink) {
      const made = answer(call)
      const times = timing(call, made)
      const steps = made.choices.reduce((most, each) => Math.max(most, lengthOf(each)), 1)
      const dueUs = clock.nowUs() + times.toFirstUs
      return call.request?.stream === true
        ? streamed(clock, sink, made, times, steps, dueUs)
        : whole(clock, sink, made, times, steps, dueUs)
    },
  }
}

/** A tier that is sold as faster is somewhat faster than sold. */
const ahead = 0.75

/** Time to the first token of the request's tier, as a share of that of the default tier. */
export function tierShare({ model, body }: Call): number {
  const tiers = model?.servedTiers
  if (tiers === undefined) return 1
  const asked = (JSON.parse(body.toString('utf8')) as { readonly service_tier?: unknown })
    .service_tier
  const sold = tiers.find(({ tier }) => tier === asked)?.ttft
  return sold === undefined ? 1 : sold * ahead
}

/** Delivers the answer when its last piece is due. Returns a function that stops it. */
function whole(
  clock: Clock,
  sink: Sink,
  made: Answer,
  { gapUs }: Timing,
  steps: number,
  firstUs: number,
): () => void {
  let dueUs = firstUs
  for (let step = 1; step < steps; step++) dueUs += gapUs()
  if (dueUs > clock.nowUs()) return clock.at(dueUs, () => sink.done(made))
  sink.done(made)
  return done
}

function done(): void {}

/**
 * Delivers each piece when it is due. Returns a function that stops it. Due times add up, so a late
 * piece does not delay the next, and all pieces that are due by then go out together.
 */
function streamed(
  clock: Clock,
  sink: Sink,
  made: Answer,
  { gapUs }: Timing,
  steps: number,
  firstUs: number,
): () => void {
  const { choices } = made
  let dueUs = firstUs
  let step = 0
  const next = (nowUs: number): number | null => {
    let pieces = piecesAt(choices, step++)
    dueUs += gapUs()
    for (; step < steps && dueUs <= nowUs; dueUs += gapUs()) {
      pieces = [...pieces, ...piecesAt(choices, step++)]
    }
    sink.pieces(pieces)
    if (step < steps) return dueUs
    sink.done(made)
    return null
  }
  const nowUs = clock.nowUs()
  const againUs = dueUs > nowUs ? dueUs : next(nowUs)
  return againUs === null ? done : clock.pace(againUs, next)
}

const lengthOf = ({ reasoning, pieces }: Choice): number => reasoning.length + pieces.length

/** Literal arrays for one choice: an array that grows has room for 17, 50,000 times a second. */
function piecesAt(choices: Answer['choices'], step: number): readonly Piece[] {
  if (choices.length !== 1)
    return choices.flatMap((each, choice) => pieceAt(each, step, choice) ?? [])
  const piece = pieceAt(choices[0]!, step, 0)
  return piece === null ? [] : [piece]
}

function pieceAt({ reasoning, pieces, tool }: Choice, step: number, choice: number): Piece | null {
  const thinking = step < reasoning.length
  const text = thinking ? reasoning[step] : pieces[step - reasoning.length]
  if (text === undefined || text === '') return null
  return tool === undefined || thinking
    ? { choice, text, reasoning: thinking }
    : { choice, text, reasoning: false, tool }
}
