/** What a base URL is, as a noun phrase for errors. */
export const baseUrlSays =
  'an http or https URL without user, password, query or fragment: none of them would be sent'

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
