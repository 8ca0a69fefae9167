//! `#[derive(Tree)]` for structs whose fields are trees, in order. Fields marked `#[tree(fixed)]`
//! hold no tensors.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Index, parse_macro_input, parse_quote};

/// Implements `cotangent::Tree` for a struct. Each field must be a tree, or be marked
/// `#[tree(fixed)]` and implement `Clone` and `Debug`. Fixed fields are cloned, and their `Debug`
/// text is part of the tree's structure. Type parameters must be trees, too.
#[proc_macro_derive(Tree, attributes(tree))]
pub fn derive_tree(input: TokenStream) -> TokenStream {
    expand(parse_macro_input!(input as DeriveInput)).into()
}

fn expand(mut input: DeriveInput) -> Tokens {
    let Data::Struct(data) = &input.data else {
        return quote_spanned! { input.ident.span() => compile_error!("Tree can be derived for structs only"); };
    };
    let (mut leaves, mut rebuilt, mut structure) = (Vec::new(), Vec::new(), Vec::new());
    for (i, f) in data.fields.iter().enumerate() {
        let member = match &f.ident {
            Some(name) => quote!(#name),
            None => {
                let index = Index {
                    index: i as u32,
                    span: f.span(),
                };
                quote!(#index)
            }
        };
        match is_fixed(f) {
            Err(e) => return e.to_compile_error(),
            Ok(true) => {
                rebuilt.push(quote!(#member: ::std::clone::Clone::clone(&self.#member)));
                structure.push(quote!(out.push_str(&::std::format!("{:?};", self.#member));));
            }
            Ok(false) => {
                leaves.push(quote!(::cotangent::Tree::leaves(&self.#member, _out);));
                rebuilt.push(quote!(#member: ::cotangent::Tree::rebuild(&self.#member, _leaves)));
                structure.push(quote!(::cotangent::Tree::structure(&self.#member, out);));
            }
        }
    }
    for p in input.generics.type_params_mut() {
        p.bounds.push(parse_quote!(::cotangent::Tree));
    }
    let name = &input.ident;
    let text = name.to_string();
    let (generics, of, bounds) = input.generics.split_for_impl();
    let mut nested = input.generics.clone();
    nested.params.push(parse_quote!(__Nested));
    let (nesting, _, _) = nested.split_for_impl();
    quote! {
        impl #generics ::cotangent::Tree for #name #of #bounds {
            fn leaves<'__tree>(&'__tree self, _out: &mut ::std::vec::Vec<&'__tree ::cotangent::TracedTensor>) {
                #(#leaves)*
            }

            fn rebuild(
                &self,
                _leaves: &mut dyn ::std::iter::Iterator<Item = ::cotangent::TracedTensor>,
            ) -> Self {
                Self { #(#rebuilt),* }
            }

            fn structure(&self, out: &mut ::std::string::String) {
                out.push_str(#text);
                out.push('(');
                #(#structure)*
                out.push(')');
            }
        }

        impl #nesting ::cotangent::closures::Nest<__Nested> for #name #of #bounds {
            type Of = ::std::vec::Vec<__Nested>;

            fn nest(&self, next: &mut dyn ::std::ops::FnMut() -> __Nested) -> Self::Of {
                let mut leaves = ::std::vec::Vec::new();
                ::cotangent::Tree::leaves(self, &mut leaves);
                leaves.iter().map(|_| next()).collect()
            }
        }
    }
}

/// Whether a field is marked `#[tree(fixed)]`.
fn is_fixed(f: &Field) -> syn::Result<bool> {
    let mut fixed = false;
    for a in f.attrs.iter().filter(|a| a.path().is_ident("tree")) {
        a.parse_nested_meta(|meta| match meta.path.is_ident("fixed") {
            true => {
                fixed = true;
                Ok(())
            }
            false => Err(meta.error("expected `fixed`")),
        })?;
    }
    Ok(fixed)
}
