const wide =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u
const joined = /[\p{Mn}\p{Me}\p{Cf}]/u

/** Columns of a text on a terminal: East Asian signs and emoji are two wide, marks on other signs none. */
export const columnsOf = (text: string): number =>
  [...text].reduce((sum, sign) => sum + (joined.test(sign) ? 0 : wide.test(sign) ? 2 : 1), 0)

/** The text, with spaces up to this many columns. */
export const filled = (text: string, columns: number): string =>
  `${text}${' '.repeat(Math.max(0, columns - columnsOf(text)))}`
