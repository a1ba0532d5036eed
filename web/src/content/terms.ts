import { supportEmail } from '../contact/support-email.ts'
import { showMembershipPrice } from '../membership/MembershipPriceLater.tsx'
import type { Content } from '../reading/blocks.ts'

export const terms: Content = {
  showPrice: showMembershipPrice,
  kicker: 'Legal',
  title: 'Terms of Service',
  lead: 'The agreement between you and us, in words that are meant to be read.',
  date: ['Effective', '2025-08-23'],
  picture: 'document',
  contents: true,
  numbered: true,
  opening: [
    {
      kind: 'note',
      title: 'The five points that matter most',
      text: [
        'You are 18 or older (',
        { to: '#eligibility', text: 'section 2' },
        '). All sales are final (',
        { to: '#refunds', text: 'section 6' },
        '). Live sessions may be recorded (',
        { to: '#recording', text: 'section 9' },
        '). Our liability is limited (',
        { to: '#liability', text: 'section 15' },
        '). Disputes go to arbitration, one by one (',
        { to: '#arbitration', text: 'section 17' },
        ').',
      ],
    },
  ],
  sections: [
    {
      id: 'agreement',
      title: 'The agreement',
      blocks: [
        'These terms are an agreement between you and Robo Kids Learning, located in Silicon Valley, California (“we”, “us”). They apply to the website, the live classes, the kits, memberships and everything you buy from us. By registering, buying or using an account you accept them. If you do not accept them, please do not use what they apply to.',
      ],
    },
    {
      id: 'eligibility',
      title: 'Adults only: 18 or older',
      blocks: [
        [
          { strong: 'You must be 18 or older to register, buy or hold an account.' },
          ' You register a child as the parent or legal guardian, and you confirm that you may sign for that child. Children take part through you and have no accounts of their own.',
        ],
      ],
    },
    {
      id: 'program',
      title: 'The program',
      blocks: [
        'Classes are live on a video call, in four levels, in small groups of 5 to 10 students. The minimum age is 5; our recommended ages are 7 to 16 overall, and each level’s page names its own. They are a recommendation, not a promise that a level fits.',
        'You choose the level and the date. We may replace a coach, and may move a session when there is a good reason; we tell you as early as we can.',
      ],
    },
    {
      id: 'registration',
      title: 'Registration and waiver',
      blocks: [
        'What you enter must be true and complete. A seat is held for a short time while you pay and is yours when your payment has been confirmed. If the class is full when your payment arrives, we automatically refund it.',
        'After you pay, you sign the waiver. Kits ship and class links are sent only once it is signed.',
      ],
    },
    {
      id: 'payment',
      title: 'Prices and payment',
      blocks: [
        'Prices are in US dollars. The price that applies is the one shown when you begin your payment. You pay by card on our payment provider’s page, and its terms apply to the payment. Promotions are valid for the levels and days they state.',
      ],
    },
    {
      id: 'refunds',
      title: 'All sales final',
      blocks: [
        [
          { strong: 'All sales are final. There are no refunds' },
          ', no exchanges and no credits: not for a missed session, not for a change of mind, not for a kit that was opened.',
        ],
        'We do refund what we owe you: if we can’t give you the seat you paid for, if we cancel a class, if you were charged twice, and wherever the law gives you a right to a refund.',
      ],
    },
    {
      id: 'memberships',
      title: 'Memberships',
      blocks: [
        [
          'A membership costs ',
          { priceOf: 'membership' },
          ', as you choose. It renews automatically for the same period until you cancel, which you can do at any time; it then ends when the time you have paid for is over. Before we change the price of an active membership, we tell you, so that you can cancel.',
        ],
        'Each paid month, also of a year, gives one members’ class. Up to 3 unused classes are kept while the membership runs. A booked class can be moved or canceled for free until 24 hours before it starts. When a membership ends, unused classes end with it, and what is booked and paid for stays. If the payment for a month is refunded in full or disputed, its class is canceled.',
      ],
    },
    {
      id: 'kits',
      title: 'Kits and shipping',
      blocks: [
        [
          { strong: 'Kits are shipped before the program starts' },
          ', within the United States, to the address in your registration. Kit styles may vary. Please check that the address is right: if a kit comes back because the address was wrong, you pay to have it sent again.',
        ],
        'Once delivered, the kit is yours. Tell us within 14 days if a part is missing or broken, and we send it to you.',
        'Kits contain small parts, batteries and magnets. They are not for children under 3, and an adult must be within reach while a child builds.',
      ],
    },
    {
      id: 'recording',
      title: 'Recording of sessions',
      blocks: [
        [
          { strong: 'Live sessions may be recorded' },
          ' for teaching, safety and quality. Voice, image, screen name and work of those who take part may be in a recording. A child may keep the camera off. You and your child may not record, copy or share a session. How long we keep recordings is in the ',
          { to: '/privacy', text: 'Privacy Policy' },
          '.',
        ],
      ],
    },
    {
      id: 'conduct',
      title: 'Conduct',
      blocks: [
        'Everyone is treated with respect. Class links and accounts are for your family alone. You may not disturb classes, get around security measures, overload the website with automated programs, or use it for anything that is against the law. A coach may mute or remove a participant who disturbs a class or puts anyone at risk; in that case there is no refund.',
      ],
    },
    {
      id: 'accounts',
      title: 'Accounts',
      blocks: [
        'Keep your password to yourself, and tell us right away if someone else may know it. What is done through your account counts as done by you, unless it is our fault. You can delete your account on the profile page.',
      ],
    },
    {
      id: 'content',
      title: 'Our content and yours',
      blocks: [
        'Texts, pictures, lessons, designs and programs on this website and in the classes are ours or our licensors’. You may use them at home and in your family. You may use the sample code in our guides as you like, even in your own products, at your own risk.',
        'What your child invents in a class belongs to your child. We may show it in class. Outside of it we show it only with your permission, and never with a child’s name.',
      ],
    },
    {
      id: 'safety',
      title: 'Safety and assumption of risk',
      blocks: [
        'Building robots involves tools, electricity, batteries and moving parts. You make sure that an adult is at home and within reach during every class. The waiver names the risks that you accept; where it differs from these terms about the risks of taking part, the waiver applies. Guides on this website are for readers who follow them with care and under their own responsibility.',
      ],
    },
    {
      id: 'disclaimer',
      title: 'No warranties',
      blocks: [
        'As far as the law allows, the website, the classes and the kits are provided “as is” and “as available”, without warranties of any kind, express or implied, including merchantability, fitness for a particular purpose and non-infringement. We do not promise that the website is always reachable or without error, nor any particular success in learning.',
      ],
    },
    {
      id: 'liability',
      title: 'Limit of liability',
      blocks: [
        [
          'As far as the law allows, we are not liable for indirect, incidental, special or consequential damage, and ',
          { strong: 'our total liability is limited to the amount you paid us in the preceding 12 months' },
          '. This does not limit liability for gross negligence, willful misconduct, fraud, or anything else for which the law does not let it be limited.',
        ],
      ],
    },
    {
      id: 'indemnity',
      title: 'Indemnity',
      blocks: [
        'If someone makes a claim against us because you broke these terms, or because you or your child used a kit against its instructions, you reimburse us for the loss and for reasonable legal cost, as far as the law allows.',
      ],
    },
    {
      id: 'arbitration',
      title: 'Disputes: arbitration',
      blocks: [
        [
          'Please write to us first: most things can be settled by talking. If that does not help within 30 days, ',
          { strong: 'the dispute is decided by binding arbitration' },
          ', by one arbitrator of the American Arbitration Association under its Consumer Arbitration Rules, in Santa Clara County, California, or by phone or video if you prefer.',
        ],
        'Either side may go to a small claims court instead, and may ask a court to stop a misuse of intellectual property. Claims are brought by each person alone: there are no class actions and no joined arbitrations. You and we give up the right to a trial by jury.',
        [
          'You may opt out of arbitration within 30 days after you first accepted these terms: write to ',
          { mail: supportEmail },
          ' with your name and the words “I opt out of arbitration”.',
        ],
      ],
    },
    {
      id: 'law',
      title: 'Governing law',
      blocks: [
        'The laws of the State of California apply, and the Federal Arbitration Act to section 17. Where a dispute goes to a court, it is one in Santa Clara County, California. If a part of these terms cannot be enforced, the rest stays in force.',
      ],
    },
    {
      id: 'changes',
      title: 'Changes, ending, and how to reach us',
      blocks: [
        'When we change these terms, the date at their top changes, and we write to members and to families with a class in progress before the change takes effect. For a class that is already paid, the terms of the day you paid stay in force. We may close an account that breaks these terms. Sections 12 to 18 continue to apply after these terms end.',
        ['Questions? ', { mail: supportEmail }, ', or any way on the ', { to: '/contact', text: 'contact page' }, '.'],
      ],
    },
  ],
}
