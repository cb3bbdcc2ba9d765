/**
 * Words of the made-up answers. Each, with the space before it, is exactly one token of the
 * tokenizer (a test checks this). So there are as many words as tokens, and every streamed piece is
 * one token. Some have characters of several bytes, as real answers do.
 */
export const openings =
  'The A This Each When If After Before Most Some Every Once Here There What Many All One'.split(
    ' ',
  )

export const words = (
  'system model answer question light water city river mountain door window letter number story ' +
  'garden bridge station signal engine paper stone winter summer morning evening voice silence ' +
  'road table market teacher captain doctor child friend stranger machine language memory pattern ' +
  'reason measure balance credit limit promise record window service request response token ' +
  'moves turns holds keeps finds gives takes shows counts opens closes carries follows begins ends ' +
  'answers remembers waits grows falls rises passes returns crosses connects explains describes ' +
  'small large quiet bright early late simple steady careful honest clear deep narrow open ' +
  'slowly quickly often always never again together alone between under over through across ' +
  'and but because while until with without from into about near beyond along around for of in on ' +
  'the a its their every each another some many few more less café über São déjà'
).split(' ')
