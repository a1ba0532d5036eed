import { describe, expect, it } from 'vitest'
import { validFor } from './phrases.ts'

describe('validFor', () => {
  it.each([
    ['PT0.2S', '1 minute'],
    ['PT60S', '1 minute'],
    ['PT2M58S', '3 minutes'],
    ['PT3M', '3 minutes'],
    ['PT59M59S', '1 hour'],
    ['PT1H', '1 hour'],
    ['PT1H30M', '90 minutes'],
    ['PT2H30M', '2 hours'],
    ['PT23H59M58S', '24 hours'],
    ['PT47H59M', '47 hours'],
    ['PT167H59M57S', '7 days'],
  ])('says %s as %s', (duration, words) => {
    expect(validFor(Temporal.Duration.from(duration))).toBe(words)
  })
})
