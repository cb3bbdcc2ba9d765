import type { Contract } from './contract.ts'
import { usualOf } from './usual.ts'

/** A noun phrase for errors. */
export const baseUrlSays =
  'an http or https URL without user, password, query or fragment: none of them would be sent'

/** The base URL without the start of the contract's chat path: people copy `https://host/v1` for `https://host`. */
export function serviceUrl(baseUrl: string, contract: Contract): string {
  const { paths } = usualOf(contract)
  const url = baseUrl.replace(/\/+$/, '')
  const pathFrom = url.indexOf('/', url.indexOf('://') + 3)
  if (pathFrom === -1) return url
  const words = paths.chat.split('/')
  for (let length = words.length; length > 1; length--) {
    const prefix = words.slice(0, length).join('/')
    if (url.slice(pathFrom).endsWith(prefix)) return url.slice(0, -prefix.length)
  }
  return url
}

/** Whether a path can be appended: the text has only scheme, host, port and a base path. */
export function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === '' && !/[?#]/.test(text)
}

/** A wrong address for errors, without parts that may be a password or a key, also where `//` is forgotten. */
export const shownBaseUrl = (text: string): string =>
  text
    .replace(/^([a-z][a-z\d+.-]*:\/\/|https?:\/?)?.*@/is, '$1…@')
    .replace(/[?#].*$/s, (rest) => `${rest[0]}…`)

/** Whether a base URL points to this machine, unlike a name such as 127.example.com. */
export function isLoopback(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false
  const { hostname } = new URL(baseUrl)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname)
}
