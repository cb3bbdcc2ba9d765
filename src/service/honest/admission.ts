import type { Behaviour, Kit } from '../behaviour.ts'
import type { Outage } from '../options.ts'
import { requestRules } from '../request/rules.ts'
import { countTokens } from '../tokens.ts'

type Admission = Pick<Behaviour, 'rules' | 'promptTokens' | 'fits' | 'outage'>

/** Tokens that frame each message and prime the answer, as in chat templates. */
const perMessageTokens = 4
const primingTokens = 3
/** As public services count an image of low detail. */
const perImageTokens = 85

export function honestAdmission(
  { contract, profile, random }: Kit,
  outage: Outage | null,
): Admission {
  const rules = {
    chat: requestRules(contract, profile, 'chat'),
    messages: requestRules(contract, profile, 'messages'),
  }
  const { limits } = contract
  return {
    rules: (call) => rules[call.format ?? 'chat'],
    promptTokens({ model }, { system, messages, images, tools, output }) {
      // A prompt beyond every limit of the model is refused, so its exact length is not needed.
      const most = Math.max(model?.contextWindowTokens ?? 0, limits.maxInputTokens)
      let tokens = primingTokens
      const add = (text: string) => {
        tokens += perMessageTokens + countTokens(text, Math.max(most - tokens, 0))
      }
      if (system !== null) add(system)
      for (const { text } of messages) add(text)
      for (const tool of tools) add(JSON.stringify(tool))
      if (output.kind === 'schema') add(JSON.stringify(output.schema))
      tokens += images.length * perImageTokens
      return tokens
    },
    fits({ model, request, promptTokens }) {
      if (model === null || request === null) return null
      const own = model.contextWindowTokens
      const wide = profile.inputLimit === 'window'
      const maxInput = wide ? own : Math.min(own, limits.maxInputTokens)
      if (promptTokens > maxInput) {
        return {
          kind: 'context',
          message: `${model.id} takes at most ${maxInput} tokens of input; got more`,
        }
      }
      const maxTotal = wide ? own : Math.min(own, limits.maxTotalTokens)
      const output = Math.min(request.maxTokens, limits.maxOutputTokens)
      if (promptTokens + output > maxTotal) {
        return {
          kind: 'context',
          message:
            `${model.id} takes at most ${maxTotal} tokens of input and output together; got ` +
            `${promptTokens} of input and max_tokens ${output}`,
        }
      }
      return null
    },
    outage: () =>
      outage !== null && random() < outage.probability
        ? outage.status === 500
          ? 'internal'
          : 'unavailable'
        : null,
  }
}
