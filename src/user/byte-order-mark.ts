/** A text without the byte order mark at its start. */
export const withoutMark = (text: string): string => text.replace(/^\ufeff/, '')
