import type { RequestSpec } from '../../client/request.ts'
import type { GapAnswer } from '../../contract/profile.ts'
import type { Asking } from '../asking.ts'
import { answered, notAskable, type Question } from '../question.ts'
import { at } from '../reply.ts'

/** G-02, G-03: what the model list shows. */
export const modelList: Question = {
  gaps: ['G-02', 'G-03'],
  price: () => 1,
  async ask(asking) {
    const reply = await asking.read('models')
    const list = at(reply.json, 'data')
    if (reply.status !== 200 || !Array.isArray(list)) {
      const why = `GET ${asking.contract.paths.models} gave status ${reply.status} and no list`
      return { 'G-02': notAskable(why), 'G-03': notAskable(why) }
    }
    const ids = list.map((model) => at(model, 'id')).filter((id) => typeof id === 'string')
    const hidden = asking.contract.models.filter(({ listed }) => !listed)
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
      'G-02': answered(
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

/** G-06, G-07: which header lets a read through, and whether one is needed at all. */
export const readKeys: Question = {
  gaps: ['G-06', 'G-07'],
  price: () => 8,
  async ask(asking) {
    return {
      'G-06': await askHeaders(asking, 'models'),
      'G-07': await askHeaders(asking, 'credits'),
    }
  },
}

async function askHeaders(asking: Asking, endpoint: 'models' | 'credits'): Promise<GapAnswer> {
  const status = async (auth: NonNullable<RequestSpec['auth']>) => {
    const reply = await asking.read(endpoint, { auth }, { step: `auth ${auth}`, expects: 'any' })
    return reply.status
  }
  const [none, bearer, plain, both] = [
    await status('none'),
    await status('chat'),
    await status('messages'),
    await status('both'),
  ]
  const evidence = `status without a key ${none}, by the chat header ${bearer}, by the messages header ${plain}, by both ${both}`
  if (none === 404 && both === 404) return notAskable(`the endpoint is not there: ${evidence}`)
  const opens = (status: number | null) => status === 200
  if (opens(none)) return answered({ key: 'none' }, evidence)
  if (opens(bearer) && opens(plain)) return answered({ key: 'either' }, evidence)
  if (opens(bearer)) return answered({ key: 'bearer' }, evidence)
  if (opens(plain)) return answered({ key: 'x-api-key' }, evidence)
  return notAskable(`no header opens it: ${evidence}`)
}
