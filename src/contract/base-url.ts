import type { Contract } from './contract.ts'

/** What a base URL is, as a noun phrase for errors. */
export const baseUrlSays =
  'an http or https URL without user, password, query or fragment: none of them would be sent'

/**
 * The base URL without what the contract's paths begin with: people copy `https://host/v1`, or the
 * address of a whole endpoint, where `https://host` is meant.
 */
export function serviceUrl(baseUrl: string, { paths }: Pick<Contract, 'paths'>): string {
  const url = baseUrl.replace(/\/+$/, '')
  const words = paths.chat.split('/')
  for (let length = words.length; length > 1; length--) {
    const prefix = words.slice(0, length).join('/')
    if (url.endsWith(prefix)) return url.slice(0, -prefix.length)
  }
  return url
}

/** Whether paths can be set behind it: scheme, host, port and a base path, and nothing else. */
export function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === '' && !/[?#]/.test(text)
}

/** What came instead of a base URL, without what may be a password or a key. */
export function shownBaseUrl(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//…@').replace(/[?#].*$/s, (rest) => `${rest[0]}…`)
}

/** Whether a base URL leads to this machine. A name such as 127.example.com does not. */
export function isLoopback(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false
  const { hostname } = new URL(baseUrl)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname)
}
