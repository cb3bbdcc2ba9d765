import { pricesOf } from '../prices.ts'
import { isRefused, type ProbeResponse } from '../probe-response.ts'
import { ofFacets, oneGap } from '../question.ts'

const wrongKey = 'assay-wrong-key-0000000000000000'

/** G-08: the other endpoint's header, and both headers at once, one of them wrong. */
export const otherHeader = oneGap('G-08', {
  price: ({ contract }) => 6 * pricesOf(contract).least,
  obstacle: ({ contract: { auth } }) =>
    auth.chat.name === auth.messages.name ? `both endpoints take ${auth.chat.name}` : null,
  async ask(prober) {
    const { auth } = prober.contract
    const expects = { expects: 'any' }
    const chatByOther = await prober.chat({ auth: 'messages' }, expects)
    const messagesByOther = await prober.messages({ auth: 'chat' }, expects)
    const wrongPlain = { [auth.messages.name]: auth.messages.prefix + wrongKey }
    const wrongBearer = { [auth.chat.name]: auth.chat.prefix + wrongKey }
    const chatOwnRight = await prober.chat({ auth: 'chat', headers: wrongPlain }, expects)
    const chatOwnWrong = await prober.chat({ auth: 'messages', headers: wrongBearer }, expects)
    const messagesOwnRight = await prober.messages(
      { auth: 'messages', headers: wrongBearer },
      expects,
    )
    const messagesOwnWrong = await prober.messages({ auth: 'chat', headers: wrongPlain }, expects)
    const accepted = (response: ProbeResponse) => {
      const { status } = response
      if (status === 200) return 'accepted'
      if (isRefusal(status)) return 'refused'
      return isRefused(response) ? `status ${status}` : { oneOf: ['accepted', 'refused'] }
    }
    const winner = (right: ProbeResponse, wrong: ProbeResponse) => {
      const odd = [right, wrong].filter(({ status }) => status !== 200 && !isRefusal(status))
      const refused = odd.find(isRefused)
      if (refused !== undefined) return `status ${refused.status}`
      if (odd.length > 0) return { oneOf: winners }
      if (right.status === 200) return wrong.status === 200 ? 'any valid one' : 'own header'
      return wrong.status === 200 ? 'other header' : 'both must be valid'
    }
    return ofFacets(
      {
        chat: accepted(chatByOther),
        messages: accepted(messagesByOther),
        'both on chat': winner(chatOwnRight, chatOwnWrong),
        'both on messages': winner(messagesOwnRight, messagesOwnWrong),
      },
      `${auth.messages.name} alone on chat: ${chatByOther.status}; ${auth.chat.name} alone on messages: ${messagesByOther.status}`,
    )
  },
})

const winners = ['any valid one', 'own header', 'other header', 'both must be valid']

/** Whether the status rejects the key. A missing endpoint rejects no key. */
const isRefusal = (status: number | null): boolean => status === 401 || status === 403
