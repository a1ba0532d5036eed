import type { DrawingName } from '../ui/drawing-names.ts'

export interface Testimonial {
  name: string
  location: string
  image: DrawingName
  quote: string
}

/** Testimonials by role, without names. */
export const testimonials: Testimonial[] = [
  {
    name: 'Mother of a Level 1 student, 8',
    location: 'San Mateo, California',
    image: 'mother',
    quote:
      'I expected another hour in front of a screen. Instead the screen was forgotten, and the two of us crawled after a rover under the kitchen table.',
  },
  {
    name: 'Father of a Level 2 student, 11',
    location: 'Austin, Texas',
    image: 'father',
    quote:
      'The coach did not give the answer away. She asked what the sensor was seeing, and waited. He found the mistake himself, and told us about it all through dinner.',
  },
  {
    name: 'Grandmother of a Level 3 student, 13',
    location: 'Columbus, Ohio',
    image: 'grandmother',
    quote:
      'Six children in the group, so there was always time for her question. At the end her robot walked through our living room alone, and stopped for the cat.',
  },
]

export const reasons = [
  {
    title: 'Live, never a recording to sit through',
    text: 'A coach sees your child’s build on the video call and helps while it is on the table.',
  },
  {
    title: 'Small groups of 5 to 10',
    text: 'Enough children for good company, few enough that nobody waits long for help.',
  },
  {
    title: 'The kit comes to your home',
    text: 'Shipped across the U.S. before the program starts, with every part that the build needs.',
  },
  {
    title: 'A way that goes on',
    text: 'Four levels, from the first circuit to an invention of one’s own. Begin where your child is.',
  },
] as const
