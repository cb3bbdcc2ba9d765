import type { Call } from '../call.ts'
import type { AnswerLayer } from './answer.ts'

/** A completed answer without a token is free (G-16): its reservation is released. */
export const emptyAnswers: AnswerLayer = (below, { profile }) => {
  if (profile.emptyAnswers === 'charged') return {}
  const empty = new WeakSet<Call>()
  return {
    generate: (call, sink) =>
      below.generate(call, {
        // A head that is sent before the end would show a charge that is never made.
        pieces: (pieces) => (pieces.length === 0 ? undefined : sink.pieces(pieces)),
        done(answer) {
          if (answer.completionTokens === 0) empty.add(call)
          sink.done(answer)
        },
        fail: (refusal) => sink.fail(refusal),
      }),
    settle(call, usage) {
      if (!empty.has(call)) return below.settle(call, usage)
      below.release(call)
      call.price = 0
      call.creditsAfter = below.available(call)
    },
  }
}
