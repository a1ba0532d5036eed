import { expect, it } from 'vitest'
import { trackingUrl } from './tracking.ts'

it('a parcel’s page is that of its carrier, however its name is spelled; other carriers have none', () => {
  expect(trackingUrl('UPS', '1Z999AA1')).toBe('https://www.ups.com/track?tracknum=1Z999AA1')
  expect(trackingUrl(' fedex ', '12 34/5')).toBe('https://www.fedex.com/fedextrack/?trknbr=12%2034%2F5')
  expect(trackingUrl('Pigeon Post', '1')).toBeUndefined()
  expect(trackingUrl('constructor', '1')).toBeUndefined()
})
