import type { RequestSpec } from '../../client/call/request.ts'
import type { GapAnswer } from '../../contract/profile.ts'
import type { PlainRead } from '../../contract/request.ts'
import { at } from '../probe-response.ts'
import type { Prober } from '../prober.ts'
import { answered, notAskable, ofFacets, type Question } from '../question.ts'

/** G-02, G-03: what the model list shows. */
export const modelList: Question = {
  gaps: ['G-02', 'G-03'],
  price: ({ readCredits }) => readCredits,
  async ask(prober) {
    const response = await prober.read('models')
    const list = at(response.json, 'data')
    if (response.status !== 200 || !Array.isArray(list)) {
      const why = `GET ${prober.contract.paths.models} gave status ${response.status} and no list`
      return { 'G-02': notAskable(why), 'G-03': notAskable(why) }
    }
    const ids = list.map((model) => at(model, 'id')).filter((id) => typeof id === 'string')
    const hidden = prober.contract.models.filter(({ listed }) => !listed)
    const elements = list.flatMap((model) => {
      const permission = at(model, 'permission')
      return Array.isArray(permission) ? permission : []
    })
    const fields = new Set(
      elements.flatMap((element) =>
        typeof element === 'object' && element !== null ? Object.keys(element) : [typeof element],
      ),
    )
    return {
      'G-02':
        hidden.length === 0
          ? notAskable('the contract has every model listed')
          : answered(
              Object.fromEntries(hidden.map(({ id }) => [id, ids.includes(id)])),
              `listed: ${ids.join(', ')}`,
            ),
      'G-03': answered(
        { elements: elements.length > 0, fields: [...fields].sort() },
        `${elements.length} elements in ${list.length} models`,
      ),
    }
  },
}

/** G-06, G-07: which header opens a read, and whether it needs one. */
export const readKeys: Question = {
  gaps: ['G-06', 'G-07'],
  price: ({ readCredits }) => 8 * readCredits,
  async ask(prober) {
    return {
      'G-06': await askHeaders(prober, 'models'),
      'G-07': await askHeaders(prober, 'credits'),
    }
  },
}

async function askHeaders(prober: Prober, endpoint: PlainRead): Promise<GapAnswer> {
  const status = async (auth: NonNullable<RequestSpec['auth']>) => {
    const response = await prober.read(endpoint, { auth }, { step: `auth ${auth}`, expects: 'any' })
    return response.status
  }
  const { chat, messages } = prober.contract.auth
  const none = await status('none')
  const bearer = await status('chat')
  if (chat.name === messages.name) {
    const evidence = `status without a key ${none}, by the one header ${bearer}`
    return keyOf(['none', 'bearer'], [none, bearer], evidence)
  }
  const plain = await status('messages')
  const both = await status('both')
  const evidence = `status without a key ${none}, by the chat header ${bearer}, by the messages header ${plain}, by both ${both}`
  if (none === 404 && both === 404) return notAskable(`the endpoint is not there: ${evidence}`)
  return keyOf(['none', 'either', 'bearer', 'x-api-key'], [none, bearer, plain], evidence)
}

/** Whether a read succeeds without a key, with the chat header, and with the messages header, for each kind of key. */
const opened = {
  none: [true, true, true],
  either: [false, true, true],
  bearer: [false, true, false],
  'x-api-key': [false, false, true],
} as const

/** The kinds of key that fit the statuses. A failure fits each. */
function keyOf(
  keys: readonly (keyof typeof opened)[],
  statuses: readonly (number | null)[],
  evidence: string,
): GapAnswer {
  if (!statuses.includes(200)) return notAskable(`no header opens it: ${evidence}`)
  // A read without a key succeeded; the other statuses add nothing.
  if (statuses[0] === 200) return answered({ key: 'none' }, evidence)
  const opens = statuses.map((status) => (status === 200 ? true : isRefusal(status) ? false : null))
  const fit = keys.filter((key) =>
    opens.every((open, nth) => open === null || open === opened[key][nth]),
  )
  return ofFacets({ key: fit.length === 1 ? fit[0]! : { oneOf: fit } }, evidence)
}

/** Whether a status refuses the request: neither a failure nor the rate limit of the service. */
const isRefusal = (status: number | null): boolean =>
  status !== null && status >= 400 && status < 500 && status !== 408 && status !== 429
