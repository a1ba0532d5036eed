import { supportEmail } from '../contact/support-email.ts'
import type { Content } from '../reading/blocks.ts'

/** Frequent questions, each with an anchor. */
export const faq: Content = {
  kicker: 'FAQ',
  title: 'Questions that parents ask',
  lead: 'From choosing a level to the box at your door. Each question has its own address, so you can share it.',
  picture: 'letter',
  contents: true,
  sections: [
    {
      id: 'choosing',
      title: 'Choosing a class',
      blocks: [
        {
          kind: 'questions',
          items: [
            {
              id: 'which-level',
              question: 'Which level is right for my child?',
              answer: [
                [
                  'Go by what your child has built before, then by age. ',
                  { to: '/levels', text: 'Compare levels' },
                  ' shows the four side by side and suggests one.',
                ],
              ],
            },
            {
              id: 'age',
              question: 'My child is younger or older than recommended. Is that a problem?',
              answer: [
                'No. Ages are recommendations: we’ll tell you if your child is outside the range, and you decide. The minimum age is 5.',
              ],
            },
            {
              id: 'experience',
              question: 'Does my child need to know any coding?',
              answer: [
                'Not for Level 1, which begins with the parts on the table. Level 2 is easier after a first circuit or a first program; Level 3 builds on conditions and loops.',
              ],
            },
            {
              id: 'group-size',
              question: 'How big are the groups?',
              answer: ['5 to 10 students and a live coach, so every child gets seen and helped.'],
            },
            {
              id: 'class-full',
              question: 'The class I want is full. What now?',
              answer: [
                [
                  'Join the waitlist: a full date has the link, on the sign-up page of its level. When seats become free, we offer them in order and hold them for you. Or look at the other dates on the ',
                  { to: '/robokidslanding', text: 'class page' },
                  '. If none works for you, ',
                  { to: '/contact', text: 'write to us' },
                  ' and we’ll find one together.',
                ],
              ],
            },
            {
              id: 'siblings',
              question: 'Can brothers and sisters join together?',
              answer: [
                'Yes. One registration can include several children, and each gets a seat. During a sibling promotion, each child who pays brings one sibling free; the class page shows the levels and the last day.',
                'Either all of them get a seat or none do, so no one is left out.',
              ],
            },
          ],
        },
      ],
    },
    {
      id: 'paying',
      title: 'Registering and paying',
      blocks: [
        {
          kind: 'questions',
          items: [
            {
              id: 'who-registers',
              question: 'Who can register a child?',
              answer: [
                'A parent or guardian who is 18 or older. You don’t need an account for a class: the links in our emails lead to your registration.',
              ],
            },
            {
              id: 'price',
              question: 'What does the price include?',
              answer: [
                'The live sessions, the kit, and its shipping within the United States. There’s nothing extra to pay.',
              ],
            },
            {
              id: 'how-to-pay',
              question: 'How do I pay, and is my card safe?',
              answer: [
                'By card, on our payment provider’s page. Your card number goes to them and never reaches our servers. You get a receipt by email.',
              ],
            },
            {
              id: 'hold',
              question: 'Is my seat held while I pay?',
              answer: [
                'Yes, for about half an hour once you continue to payment. If you come back later, we’ll hold a seat again if one is left.',
              ],
            },
            {
              id: 'mistake',
              question: 'I made a mistake in the form. How do I fix it?',
              answer: [
                'Before you pay, go back and change it: you won’t pay for the same seat twice. After that, write to us with your order information and we’ll fix it.',
              ],
            },
            {
              id: 'refunds',
              question: 'Can I get a refund?',
              answer: [
                [
                  { strong: 'All sales are final' },
                  ': there are no refunds for a missed session, a change of mind or an opened kit.',
                ],
                [
                  'We do refund what we owe you, and you don’t have to ask: if your seat was gone before your payment arrived, if we cancel a class, or if you were charged twice. The refund goes to the card you paid with, and we email you. ',
                  { to: '/terms', text: 'The terms' },
                  ' have the details.',
                ],
              ],
            },
          ],
        },
      ],
    },
    {
      id: 'waiver-and-kit',
      title: 'The waiver and the kit',
      blocks: [
        {
          kind: 'questions',
          items: [
            {
              id: 'why-a-waiver',
              question: 'Why do I sign a waiver?',
              answer: [
                [
                  'Building involves tools, batteries and moving parts. The waiver names the risks, and you sign it for your child after you have paid. You can ',
                  { to: '/waiver.pdf', text: 'read it now (PDF)' },
                  '. Your signed copy comes by email.',
                ],
              ],
            },
            {
              id: 'not-signed',
              question: 'What if I do not sign it?',
              answer: [
                'You keep your seat, but we can’t ship the kit or send the class link until you sign. The link to the waiver is in your confirmation email.',
              ],
            },
            {
              id: 'kit-arrival',
              question: 'When does the kit arrive?',
              answer: [
                'It ships after you sign the waiver and before the program starts. We email you when it is on its way. Kit styles may vary.',
              ],
            },
            {
              id: 'shipping',
              question: 'Where do you ship?',
              answer: ['To the address in your registration, anywhere in the United States.'],
            },
            {
              id: 'missing-part',
              question: 'A part is missing or broken. What now?',
              answer: [
                [
                  'Tell us within 14 days at ',
                  { mail: supportEmail },
                  ' and we’ll send it to you. The kit is yours to keep.',
                ],
              ],
            },
            {
              id: 'safety',
              question: 'Is the kit safe for small children in the house?',
              answer: [
                'It contains small parts, batteries and magnets: keep it away from children under 3, and stay within reach while your child builds.',
              ],
            },
          ],
        },
      ],
    },
    {
      id: 'class-day',
      title: 'On the day of the class',
      blocks: [
        {
          kind: 'questions',
          items: [
            {
              id: 'class-link',
              question: 'How does my child join?',
              answer: [
                'Live, on a video call. We email you the class link before the class, once the waiver is signed. It’s for your family only.',
              ],
            },
            {
              id: 'at-home',
              question: 'What does my child need at home?',
              answer: [
                'A computer or tablet with a camera and a microphone, a steady internet connection and a table to build on. The rest is in the kit.',
              ],
            },
            {
              id: 'time-zones',
              question: 'Which time zone are the class times in?',
              answer: [
                'Pacific Time, because we’re in California. If your local time is different, our pages and emails show both. The calendar event in your confirmation is right in any time zone.',
              ],
            },
            {
              id: 'recorded',
              question: 'Are classes recorded?',
              answer: [
                'They may be, for teaching, safety and quality. Your child may keep the camera off. Please do not record a session yourself.',
              ],
            },
            {
              id: 'missed-session',
              question: 'What if we miss a session?',
              answer: [
                'Missed sessions aren’t refunded, and the program continues with the next one. The build guide in the kit shows every step, so your child can catch up.',
              ],
            },
          ],
        },
      ],
    },
    {
      id: 'membership',
      title: 'Membership, account and shop',
      blocks: [
        {
          kind: 'questions',
          items: [
            {
              id: 'membership-gives',
              question: 'What do I get with a membership?',
              answer: [
                [
                  'One members’ class for each paid month, also by the year: live, in a small group, without a kit. You choose the first date when you register, and book later ones on your page. Up to 3 unused classes are kept while you’re a member, and a booked class can be moved for free until 24 hours before. ',
                  { to: '/membership', text: 'Membership' },
                  ' has the monthly and yearly prices.',
                ],
              ],
            },
            {
              id: 'cancel-membership',
              question: 'How do I cancel a membership?',
              answer: [
                'On your profile page, at any time. It runs until the end of the time you’ve paid for, and you won’t be charged again. Until you cancel, it renews automatically. What you have booked stays; book the classes you have left before it ends.',
              ],
            },
            {
              id: 'cannot-log-in',
              question: 'I can’t log in. What can I do?',
              answer: [
                [
                  'Ask for a new password under “Forgot your password?” on the ',
                  { to: '/membership/login', text: 'login page' },
                  ', or log in with a passkey or a code that we send you.',
                ],
              ],
            },
            {
              id: 'pre-order',
              question: 'When is a pre-ordered robot charged, and when does it ship?',
              answer: [
                [
                  'Your card is charged when you order, and the robot ships when it’s made. For a product that is still coming soon, ask the ',
                  { to: '/shop', text: 'shop' },
                  ' to notify you: it’s free, with no obligation.',
                ],
              ],
            },
          ],
        },
      ],
    },
    {
      id: 'privacy',
      title: 'Your family’s data',
      blocks: [
        {
          kind: 'questions',
          items: [
            {
              id: 'child-data',
              question: 'What do you know about my child?',
              answer: [
                [
                  'A first name and an age, from you. Children have no accounts, and no form here is meant for a child. We don’t sell data or show ads. The ',
                  { to: '/privacy', text: 'Privacy Policy' },
                  ' has the details.',
                ],
              ],
            },
            {
              id: 'delete-data',
              question: 'How can I have my data deleted?',
              answer: [
                [
                  'Delete your account on your profile page, or write to ',
                  { mail: supportEmail },
                  '. We answer within 30 days. We have to keep some records, such as those for taxes.',
                ],
              ],
            },
          ],
        },
      ],
    },
  ],
  next: [
    { to: '/contact', text: 'Ask us' },
    { to: '/levels', text: 'Compare levels' },
  ],
}
