import type { Contract } from './contract.ts'

/** A noun phrase for errors. */
export const baseUrlSays =
  'an http or https URL without user, password, query or fragment: none of them would be sent'

/**
 * The base URL without a trailing part of the contract's chat path. People often copy `https://host/v1` or the URL of
 * a whole endpoint instead of `https://host`.
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

/** Whether the text is a URL of scheme, host, port and base path only. */
export function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return /^https?:$/.test(protocol) && username === '' && password === '' && !/[?#]/.test(text)
}

/** The text for errors, without parts that may hold a password or a key. */
export function shownBaseUrl(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//…@').replace(/[?#].*$/s, (rest) => `${rest[0]}…`)
}

/** Whether a base URL is on this machine. A name such as 127.example.com is not. */
export function isLoopback(baseUrl: string): boolean {
  if (!URL.canParse(baseUrl)) return false
  const { hostname } = new URL(baseUrl)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname)
}
